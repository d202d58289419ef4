package defaultpreemption

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// party is what leaves as one, found the simple way.
type party struct {
	members  works
	priority int32
	rank     int
	since    time.Time
}

// parties lists what leaves as one, of what is on the nodes, by the first
// workload that is met.
func parties(view *extpointstest.View, nodes infos) []party {
	var list []party
	seen := map[string]bool{}
	tick := 0
	for _, n := range nodes {
		for _, w := range n.Workloads {
			start := now.Add(time.Duration(tick))
			tick++
			p := party{members: works{w}, priority: w.Priority}
			key := ""
			for g := view.Groups().Get(w.Group); g != nil; g = view.Groups().Get(g.Parent) {
				p.priority, p.rank = g.Priority, max(p.rank, 1)
				if g.Disruption == model.DisruptAll {
					key, p.members, p.rank = g.ID, below(view, g), 1
					if g.Composite {
						p.rank = 2
					}
				}
			}
			if key != "" && seen[key] {
				continue
			}
			seen[key] = true
			for i, m := range p.members {
				at := m.PlacedAt
				if at.IsZero() {
					at = start
				}
				if i == 0 || at.Before(p.since) {
					p.since = at
				}
			}
			list = append(list, p)
		}
	}
	return list
}

// below lists the workloads on nodes that have the group above them.
func below(view *extpointstest.View, top *model.Group) (list works) {
	for _, g := range view.Groups().Children(top.ID) {
		list = append(list, below(view, g)...)
	}
	for _, m := range view.Groups().Placed(top.ID) {
		list = append(list, m.WorkloadInfo)
	}
	return list
}

func (p *party) before(q *party) bool {
	switch {
	case p.priority != q.priority:
		return p.priority > q.priority
	case p.rank != q.rank:
		return p.rank > q.rank
	case len(p.members) != len(q.members):
		return len(p.members) > len(q.members)
	}
	return p.since.Before(q.since)
}

// broken counts the members of each party that no budget allows, in the order
// of the list.
func broken(list []party, all []*model.Budget) []int {
	left := map[string]int32{}
	for _, b := range all {
		left[b.ID] = b.Allowed
	}
	counts := make([]int, len(list))
	for i, p := range list {
		for _, w := range p.members {
			for _, b := range all {
				if b.Selector.Matches(w.Labels) {
					if left[b.ID]--; left[b.ID] < 0 {
						counts[i]++
						break
					}
				}
			}
		}
	}
	return counts
}

// randomWorld is some nodes with workloads, many of them in a tree of groups.
func randomWorld(random *rand.Rand, nodes int) *extpointstest.View {
	var list infos
	for i := range nodes {
		list = append(list, node(fmt.Sprint("n", i), int64(500+random.IntN(1500))))
	}
	view := extpointstest.NewView(list...)
	modes := []model.DisruptionMode{"", model.DisruptSingle, model.DisruptAll}
	for i, id := range []string{"t", "u", "p", "q", "r", "s"} {
		g := &model.Group{ID: id, Priority: int32(random.IntN(6)), Disruption: modes[random.IntN(3)], Composite: i < 2, CreatedAt: now.Add(time.Duration(random.IntN(3)))}
		if i > 0 && random.IntN(2) == 0 {
			g.Parent = []string{"t", "u"}[random.IntN(min(i, 2))]
		}
		view.GroupList = append(view.GroupList, g)
	}
	for i, n := range list {
		for j := range random.IntN(6) {
			w := on(fmt.Sprintf("w%d%d", i, j), int32(random.IntN(6)), int64(random.IntN(500)), 1+10*i+j+100*random.IntN(3)) // no two alike
			if random.IntN(4) == 0 {
				w.PlacedAt = time.Time{}
			}
			w.Group = []string{"", "p", "q", "r", "s"}[random.IntN(5)]
			if random.IntN(3) > 0 {
				w.Labels = map[string]string{"app": []string{"web", "db"}[random.IntN(2)], "tier": []string{"x", "y"}[random.IntN(2)]}
			}
			n.AddWorkload(w)
		}
	}
	for i := range random.IntN(3) {
		b := budget(string(rune('a'+i)), []string{"web", "db"}[random.IntN(2)], int32(random.IntN(3)))
		if random.IntN(2) == 0 {
			b.Selector = model.SelectLabels(map[string]string{"tier": []string{"x", "y"}[random.IntN(2)]})
		}
		view.BudgetList = append(view.BudgetList, b)
	}
	return view
}

// groupTwin finds the victims on the node by trying every set of parties that
// may stay; see twin.
func groupTwin(view *extpointstest.View, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) (victims works, violations int) {
	room := n.Node.Allocatable.CPU - w.Requests.CPU
	var may []party
	for _, p := range parties(view, infos{n}) {
		if p.priority < w.Priority {
			may = append(may, p)
		} else {
			room -= takes(p, n)
		}
	}
	if room < 0 {
		return nil, 0
	}
	sort.SliceStable(may, func(i, j int) bool { return may[i].before(&may[j]) })
	breaks := broken(may, view.BudgetList)
	var order []int
	for _, wanted := range []bool{true, false} {
		for i := range may {
			if breaks[i] > 0 == wanted {
				order = append(order, i)
			}
		}
	}
	best := 0
	for set := range 1 << len(order) {
		used := int64(0)
		for i, at := range order {
			if set>>(len(order)-1-i)&1 == 1 {
				used += takes(may[at], n)
			}
		}
		if used <= room {
			best = max(best, set)
		}
	}
	for i, p := range may {
		if best>>(len(order)-1-slices.Index(order, i))&1 == 0 {
			victims = append(victims, p.members...)
			violations += breaks[i]
		}
	}
	return victims, violations
}

// takes is what the party takes of the node.
func takes(p party, n *extpoints.NodeInfo) (cpu int64) {
	for _, m := range p.members {
		if slices.Contains(n.Workloads, m) {
			cpu += m.Requests.CPU
		}
	}
	return cpu
}

func TestGroupVictimsAgainstTwin(t *testing.T) {
	const seed = 17
	random := rand.New(rand.NewPCG(seed, 0))
	found, whole := 0, 0
	for round := range 8000 {
		view := randomWorld(random, 3)
		w := on("w", int32(random.IntN(7)), int64(random.IntN(1200)), 0)
		trial := newTrial(&extpointstest.Preemption{Filters: fits}, extpoints.NewCycle(extpoints.CycleOptions{Context: t.Context(), View: view, Now: now, Seed: 1}).State(), w, nil)
		for _, n := range view.NodeInfos {
			before := sums(view.NodeInfos)
			got, st := trial.victimsOn(n)
			if sums(view.NodeInfos) != before {
				t.Fatalf("seed %d, round %d: the nodes of the view have changed", seed, round)
			}
			want, violations := groupTwin(view, w, n)
			if len(want) == 0 {
				if st == nil {
					t.Fatalf("seed %d, round %d: victims %s where there are none", seed, round, ids(got.Workloads))
				}
				continue
			}
			if st != nil || !slices.Equal(got.Workloads, want) || got.BudgetViolations != violations {
				t.Fatalf("seed %d, round %d, node %s: %+v (%v), want %s with %d violations", seed, round, n.Node.Name, got, st, ids(want), violations)
			}
			found++
			if slices.ContainsFunc(want, func(v *extpoints.WorkloadInfo) bool { return !slices.Contains(n.Workloads, v) }) {
				whole++
			}
		}
	}
	if found < 3000 || whole < 500 {
		t.Errorf("only %d nodes had victims, %d of them some elsewhere", found, whole)
	}
}
