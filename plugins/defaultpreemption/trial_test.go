package defaultpreemption

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// Which victims have to leave one node of 1000 so that a workload of priority 5 fits.
func TestVictims(t *testing.T) {
	moved := labelled(on("m", 1, 500, 1), "web")
	moved.Namespace = "elsewhere"
	for _, c := range []struct {
		name    string
		cpu     int64 // of the workload
		on      works
		budgets []*model.Budget
		want    string
		breaks  int
	}{
		{"all of lower priority, if it needs all", 1000, works{on("a", 1, 500, 1), on("b", 4, 500, 1)}, nil, "b a", 0},
		{"as few as will do: the more important stay", 300, works{on("a", 1, 500, 1), on("b", 4, 500, 1)}, nil, "a", 0},
		{"the same priority: the longer it runs the more important", 300, works{on("a", 1, 500, 1), on("b", 1, 500, 2)}, nil, "a", 0},
		{"no start time: it starts now", 300, works{on("a", 1, 500, 0), on("b", 1, 500, 1)}, nil, "a", 0},
		{"neither has one: the later on the node starts later", 300, works{on("a", 1, 500, 0), on("b", 1, 500, 0)}, nil, "b", 0},
		{"a less important one stays where it fits in", 500, works{on("a", 3, 600, 1), on("b", 2, 300, 1), on("c", 1, 100, 1)}, nil, "a", 0},
		{"those of the same or a higher priority are no victims", 300, works{on("a", 5, 300, 1), on("b", 6, 300, 1), on("c", 1, 400, 1)}, nil, "c", 0},

		{"a budget protects: the other goes", 300, works{labelled(on("a", 1, 500, 1), "web"), labelled(on("b", 4, 500, 1), "db")},
			[]*model.Budget{budget("x", "web", 0)}, "b", 0},
		{"what the budget allows it does not protect", 300, works{labelled(on("a", 1, 500, 1), "web"), labelled(on("b", 4, 500, 1), "db")},
			[]*model.Budget{budget("x", "web", 1)}, "a", 0},
		{"a budget is broken if there is no other way", 1000, works{labelled(on("a", 1, 500, 1), "web"), labelled(on("b", 4, 500, 1), "db")},
			[]*model.Budget{budget("x", "web", 0)}, "b a", 1},
		{"it counts from the most important on", 300, works{labelled(on("a", 1, 500, 1), "web"), labelled(on("b", 4, 500, 1), "web")},
			[]*model.Budget{budget("x", "web", 1)}, "b", 0},
		{"and what is spent is spent", 1000, works{labelled(on("a", 1, 300, 1), "web"), labelled(on("b", 4, 300, 1), "web"), labelled(on("c", 2, 400, 1), "web")},
			[]*model.Budget{budget("x", "web", 1)}, "b c a", 2},
		{"a second budget does not count for what the first forbids", 1000, works{labelled(on("a", 2, 500, 1), "web"), on("b", 1, 500, 1)},
			[]*model.Budget{budget("x", "web", 0), budget("y", "web", 0)}, "a b", 1},
		{"one that is on its way out for the budget already is free", 300, works{labelled(on("a", 1, 500, 1), "web"), labelled(on("b", 4, 500, 1), "db")},
			[]*model.Budget{budget("x", "web", 0, "a")}, "a", 0},
		{"a budget of another namespace", 300, works{moved, on("b", 4, 500, 1)}, []*model.Budget{budget("x", "web", 0)}, "m", 0},
		{"a selector without requirements protects nobody", 300, works{labelled(on("a", 1, 500, 1), "web"), on("b", 4, 500, 1)},
			[]*model.Budget{{ID: "x", Selector: &model.Selector{}}, {ID: "y"}}, "a", 0},
		{"nor does any a workload without labels", 300, works{on("a", 1, 500, 1), on("b", 4, 500, 1)},
			[]*model.Budget{{ID: "x", Selector: &model.Selector{Requirements: []model.Requirement{{Key: "app", Operator: model.DoesNotExist}}}}}, "a", 0},
	} {
		w := on("w", 5, c.cpu, 0)
		n := node("n", 1000, c.on...)
		view := extpointstest.NewView(n)
		view.BudgetList = c.budgets
		s := extpoints.NewCycle(extpoints.CycleOptions{Context: t.Context(), View: view, Now: now, Seed: 1}).State()
		victims, st := newTrial(&extpointstest.Preemption{Filters: fits}, s, w, nil).victimsOn(n)
		switch {
		case st != nil:
			t.Errorf("%s: %v", c.name, st)
		case ids(victims.Workloads) != c.want || victims.BudgetViolations != c.breaks:
			t.Errorf("%s: %s with %d violations, want %s with %d", c.name, ids(victims.Workloads), victims.BudgetViolations, c.want, c.breaks)
		}
	}
}

// A workload that is nominated to the node and must not be displaced takes room:
// that is the filters' affair, and the filters are asked each time.
func TestFiltersDecide(t *testing.T) {
	asked := 0
	engine := &extpointstest.Preemption{Filters: func(s *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
		asked++
		if len(n.Workloads) > 1 {
			return insufficient
		}
		return nil
	}}
	n := node("n", 1000, on("a", 1, 1, 1), on("b", 2, 1, 1), on("c", 3, 1, 1))
	s := extpoints.NewCycle(extpoints.CycleOptions{Context: t.Context(), View: extpointstest.NewView(n), Now: now, Seed: 1}).State()
	victims, st := newTrial(engine, s, on("w", 5, 1, 0), nil).victimsOn(n)
	if st != nil || ids(victims.Workloads) != "b a" || asked != 4 {
		t.Errorf("%v, %v, asked %d times", victims, st, asked)
	}
}

// The order of equal victims is that of sort.Slice, which the reference uses and
// which is not stable.
func TestOrderOfEqualVictims(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		list := make([]victim, random.IntN(120))
		for i := range list {
			list[i] = victim{on("", int32(random.IntN(3)), int64(i), 0), now.Add(time.Duration(random.IntN(4)) * time.Second)}
		}
		want := slices.Clone(list)
		sort.Slice(want, func(i, j int) bool {
			a, b := want[i], want[j]
			if a.Priority != b.Priority {
				return a.Priority > b.Priority
			}
			return a.since.Before(b.since)
		})
		importance(list, compare)
		if !slices.Equal(list, want) {
			t.Fatal("slices.SortFunc no longer takes the steps of sort.Slice: use sort.Slice")
		}
	}
}

// twin finds the victims by trying every set of workloads that may stay. The
// best set is the one that keeps the first in order of importance, those that no
// budget allows before all others; among those the one that keeps the second;
// and so on.
func twin(w *extpoints.WorkloadInfo, n *extpoints.NodeInfo, list []*model.Budget) (victims []*extpoints.WorkloadInfo, violations int, possible bool) {
	var may []victim
	room := n.Node.Allocatable.CPU - w.Requests.CPU
	for i, other := range n.Workloads {
		if other.Priority >= w.Priority {
			room -= other.Requests.CPU
			continue
		}
		since := other.PlacedAt
		if since.IsZero() {
			since = now.Add(time.Duration(i))
		}
		may = append(may, victim{other, since})
	}
	if len(may) == 0 || room < 0 {
		return nil, 0, false
	}
	sort.SliceStable(may, func(i, j int) bool { return compare(may[i], may[j]) < 0 })
	left := map[string]int32{}
	for _, b := range list {
		left[b.ID] = b.Allowed
	}
	breaks := map[string]bool{}
	for _, v := range may {
		for _, b := range list {
			if !b.Selector.Matches(v.Labels) || breaks[v.ID] {
				continue
			}
			left[b.ID]--
			breaks[v.ID] = left[b.ID] < 0
		}
	}
	order := slices.Clone(may)
	sort.SliceStable(order, func(i, j int) bool { return breaks[order[i].ID] && !breaks[order[j].ID] })
	best := 0
	for set := range 1 << len(order) { // the highest bit is the first workload
		used := int64(0)
		for i, v := range order {
			if set>>(len(order)-1-i)&1 == 1 {
				used += v.Requests.CPU
			}
		}
		if used <= room {
			best = max(best, set)
		}
	}
	for _, v := range may {
		i := slices.Index(order, v)
		if best>>(len(order)-1-i)&1 == 0 {
			victims = append(victims, v.WorkloadInfo)
			if breaks[v.ID] {
				violations++
			}
		}
	}
	return victims, violations, true
}

func TestVictimsAgainstTwin(t *testing.T) {
	const seed = 11
	random := rand.New(rand.NewPCG(seed, 0))
	found := 0
	for round := range 8000 {
		n := node("n", int64(500+random.IntN(1500)))
		for i := range random.IntN(8) {
			w := on(string(rune('a'+i)), int32(random.IntN(6)), int64(random.IntN(500)), 1+i+100*random.IntN(3))
			if random.IntN(4) == 0 {
				w.PlacedAt = time.Time{}
			}
			if random.IntN(3) > 0 {
				w.Labels = map[string]string{"app": []string{"web", "db"}[random.IntN(2)], "tier": []string{"x", "y"}[random.IntN(2)]}
			}
			n.AddWorkload(w)
		}
		w := on("w", int32(random.IntN(6)), int64(random.IntN(1200)), 0)
		var list []*model.Budget
		for i := range random.IntN(3) {
			b := budget(string(rune('a'+i)), []string{"web", "db"}[random.IntN(2)], int32(random.IntN(3)))
			if random.IntN(2) == 0 {
				b.Selector = model.SelectLabels(map[string]string{"tier": []string{"x", "y"}[random.IntN(2)]})
			}
			list = append(list, b)
		}
		view := extpointstest.NewView(n)
		view.BudgetList = list
		s := extpoints.NewCycle(extpoints.CycleOptions{Context: t.Context(), View: view, Now: now, Seed: 1}).State()
		got, st := newTrial(&extpointstest.Preemption{Filters: fits}, s, w, nil).victimsOn(n)
		want, violations, possible := twin(w, n, list)
		if !possible || len(want) == 0 {
			if st == nil {
				t.Fatalf("seed %d, round %d: victims %s where there are none", seed, round, ids(got.Workloads))
			}
			continue
		}
		found++
		if st != nil || !slices.Equal(got.Workloads, want) || got.BudgetViolations != violations {
			t.Fatalf("seed %d, round %d: %+v (%v), want %s with %d violations", seed, round, got, st, ids(want), violations)
		}
	}
	if found < 1000 {
		t.Errorf("only %d nodes had victims", found)
	}
}
