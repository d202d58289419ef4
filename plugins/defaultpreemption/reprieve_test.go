package defaultpreemption

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// What a member was given on its node may be another thing once a victim is
// back: the next member must find that.
func TestGroupDevicesAreChosenAgain(t *testing.T) {
	n := extpoints.NewNodeInfo(&model.Node{Name: "n1", Devices: []model.Device{{Class: "gpu"}, {Class: "gpu"}, {Class: "gpu"}}})
	for i, id := range []string{"a", "b"} {
		w := on(id, 1, 0, i+1)
		w.Shares = []model.DeviceShare{{Device: i, Share: model.WholeDevice}}
		n.AddWorkload(w)
	}
	whole := func(n *extpoints.NodeInfo) int { return slices.Index(n.DeviceFree, model.WholeDevice) }
	a := groupAttempt{g: gang(wants(0, 0)...), nodes: infos{n}, trial: func(t *extpointstest.GroupTrial) {
		t.Decide = func(_ *extpoints.WorkloadInfo, n *extpoints.NodeInfo) []model.DeviceShare {
			return []model.DeviceShare{{Device: whole(n), Share: model.WholeDevice}}
		}
	}}
	a.engine.Filters = func(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
		if whole(n) < 0 {
			return insufficient
		}
		return nil
	}
	// Both are placed on the devices of a and b, and the third is free: one of
	// the two may stay, b that runs longer.
	if st := a.run(t); a.String() != "a | m1=n1 m2=n1" {
		t.Errorf("%s, %v", &a, st)
	}
}

// listener is what a rule about all nodes keeps in the state: a member bears so
// many workloads with its own label.
type listener struct{ company int }

var listens = extpoints.NewStateKey[*listener]("test")

func (l *listener) Clone() *listener { c := *l; return &c }

// sociable gives the trial and the engine that rule: no more than two workloads
// may have the member's label, wherever they are.
func sociable(a *groupAttempt) {
	alike := func(w, other *extpoints.WorkloadInfo) bool {
		return other.ID != w.ID && w.Labels["app"] != "" && w.Labels["app"] == other.Labels["app"]
	}
	a.trial = func(t *extpointstest.GroupTrial) {
		t.PreFilter = func(s *extpoints.CycleState, w *extpoints.WorkloadInfo) {
			l := &listener{}
			for i := range s.View().Nodes().Len() {
				for _, other := range s.View().Nodes().At(i).Workloads {
					if alike(w, other) {
						l.company++
					}
				}
			}
			listens.Set(s, l)
		}
	}
	a.engine.Extensions = func(s *extpoints.CycleState, w, added, removed *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
		l, _ := listens.Get(s)
		if added != nil && alike(w, added) {
			l.company++
		}
		if removed != nil && alike(w, removed) {
			l.company--
		}
		return nil
	}
	a.engine.Filters = func(s *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
		if l, _ := listens.Get(s); l.company > 2 {
			return insufficient
		}
		return fits(s, w, n)
	}
}

// A victim on a node of no member may be in the way all the same.
func TestGroupVictimFarAway(t *testing.T) {
	a := groupAttempt{g: gang(labelled(on("m1", 5, 500, 0), "web")), nodes: infos{node("n1", 1000), node("n2", 1000,
		labelled(on("a", 1, 100, 1), "web"), labelled(on("b", 4, 100, 1), "web"), labelled(on("c", 3, 100, 1), "web"), labelled(on("d", 1, 100, 1), "db"))}}
	sociable(&a)
	if st := a.run(t); a.String() != "a | m1=n1" {
		t.Errorf("%s, %v", &a, st)
	}
}

// The extensions of every member hear of all that come back and of those that do
// not stay, and the workload is on the node when it comes and off when it goes.
func TestGroupExtensionsFollow(t *testing.T) {
	var heard []string
	listen := func(failing string) groupAttempt {
		heard = nil
		a := groupAttempt{g: gang(wants(600, 600)...), groups: []string{"g - 2 all"}, nodes: infos{
			node("n1", 1000, in("g", on("a", 1, 300, 3))), node("n2", 1000, on("b", 3, 500, 1)), node("n3", 500, in("g", on("c", 1, 100, 3)), on("d", 1, 100, 1))}}
		a.engine.Extensions = func(s *extpoints.CycleState, w, added, removed *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
			sign, other := "+", added
			if other == nil {
				sign, other = "-", removed
			}
			if slices.Contains(n.Workloads, other) != (added != nil) {
				t.Errorf("%s%s: node %s has %s", sign, other.ID, n.Node.Name, ids(n.Workloads))
			}
			heard = append(heard, sign+other.ID+"@"+w.ID)
			if sign+other.ID == failing {
				return extpoints.AsStatus(errors.New("confused by " + failing))
			}
			return nil
		}
		return a
	}
	a := listen("")
	if st := a.run(t); a.String() != "b | m1=n1 m2=n2" {
		t.Errorf("%s, %v", &a, st)
	}
	if got := strings.Join(heard, " "); got != "+b@m1 +b@m2 -b@m1 -b@m2 +a@m1 +a@m2 +c@m1 +c@m2 +d@m1 +d@m2" {
		t.Errorf("heard %s", got)
	}
	for _, when := range []string{"+c", "-b"} {
		b := listen(when)
		if st := b.run(t); st.String() != "Error: group preemption: confused by "+when || b.String() != "| -" {
			t.Errorf("%s: %s, %v", when, &b, st)
		}
	}
}

// Without extensions only the members on the nodes that a victim comes back to
// are asked about.
func TestGroupAsksNoMoreThanItMust(t *testing.T) {
	asked := 0
	a := groupAttempt{g: gang(wants(600, 600)...), nodes: infos{node("n1", 1000, on("a", 1, 300, 1)), node("n2", 1000, on("b", 1, 300, 1))}}
	for i := range 50 {
		a.nodes = append(a.nodes, node(fmt.Sprint("far", i), 100, on(fmt.Sprint("x", i), 1, 100, 1)))
	}
	a.engine.Filters = func(s *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
		asked++
		return fits(s, w, n)
	}
	// Three times until both have a node, twice more to begin with, and once for
	// each of a and b.
	if st := a.run(t); a.String() != "| m1=n1 m2=n2" || asked != 7 {
		t.Errorf("%s, %v, asked %d times", &a, st, asked)
	}
}

// The members may not fit on the nodes that were proposed for them: then nothing
// is put back.
func TestGroupThatDoesNotFitAfterAll(t *testing.T) {
	full := false
	a := groupAttempt{g: gang(wants(600)...), nodes: infos{node("n1", 1000, on("a", 1, 100, 1)), node("n2", 100, on("b", 2, 100, 1))}}
	a.engine.Filters = func(s *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
		if full {
			return insufficient
		}
		full = true
		return nil
	}
	if st := a.run(t); a.String() != "b a | m1=n1" {
		t.Errorf("%s, %v", &a, st)
	}
}

// Or only once somebody is back: then others may come back too.
func TestGroupThatWantsCompany(t *testing.T) {
	placed := 0
	a := groupAttempt{g: gang(wants(100, 100)...), groups: []string{"g - 3 all"}, nodes: infos{
		node("n1", 150, on("c", 4, 10, 1), in("g", on("a", 1, 10, 1)), in("g", on("b", 1, 10, 1))), node("n2", 150, on("e", 1, 50, 1)), node("n3", 100, on("d", 2, 1, 1))}}
	a.engine.Filters = func(s *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
		if placed++; placed > 3 && n.Node.Name == "n1" && len(n.Workloads) < 2 {
			return insufficient
		}
		return fits(s, w, n)
	}
	// c alone is too little; a and b will do, and then d and e are in nobody's way.
	if st := a.run(t); a.String() != "c | m1=n1 m2=n2" {
		t.Errorf("%s, %v", &a, st)
	}
}

// groupReprieveTwin puts the parties back one by one as the reference does: with
// all members asked about again each time, on a whole cluster.
func groupReprieveTwin(view *extpointstest.View, priority int32, proposals []extpoints.Proposal) []string {
	var may []party
	cluster := map[string]int64{} // free CPU by node
	company := map[string]int{}   // workloads with the label
	at := map[string]string{}     // node by workload
	move := func(w *extpoints.WorkloadInfo, node string, by int64) {
		cluster[node] -= by * w.Requests.CPU
		if app := w.Labels["app"]; app != "" {
			company[app] += int(by)
		}
	}
	for _, n := range view.NodeInfos {
		cluster[n.Node.Name] = n.Node.Allocatable.CPU
		for _, w := range n.Workloads {
			at[w.ID] = n.Node.Name
			move(w, n.Node.Name, +1)
		}
	}
	for _, p := range parties(view, view.NodeInfos) {
		if p.priority < priority {
			may = append(may, p)
			for _, w := range p.members {
				move(w, at[w.ID], -1)
			}
		}
	}
	sort.SliceStable(may, func(i, j int) bool { return may[i].before(&may[j]) })
	breaks := broken(may, view.BudgetList)
	fit := func() bool {
		ok := true
		placed := 0
		for _, p := range proposals {
			if p.Workload.Requests.CPU > cluster[p.Binding.Node] || p.Workload.Labels["app"] != "" && company[p.Workload.Labels["app"]] > 2 {
				ok = false
				break
			}
			move(p.Workload, p.Binding.Node, +1)
			placed++
		}
		for _, p := range proposals[:placed] {
			move(p.Workload, p.Binding.Node, -1)
		}
		return ok
	}
	stays := make([]bool, len(may))
	for _, wanted := range []bool{true, false} {
		for i, p := range may {
			if breaks[i] > 0 != wanted {
				continue
			}
			for _, w := range p.members {
				move(w, at[w.ID], +1)
			}
			if stays[i] = fit(); stays[i] {
				continue
			}
			for _, w := range p.members {
				move(w, at[w.ID], -1)
			}
		}
	}
	var victims []string
	for i, p := range may {
		if !stays[i] {
			victims = append(victims, ids(p.members))
		}
	}
	return victims
}

func TestGroupPostFilterAgainstTwin(t *testing.T) {
	const seed = 23
	random := rand.New(rand.NewPCG(seed, 0))
	done, some := 0, 0
	for round := range 4000 {
		view := randomWorld(random, 5)
		var members works
		for i := range 1 + random.IntN(4) {
			members = append(members, on(fmt.Sprint("m", i), 5, int64(random.IntN(700)), 0))
			if random.IntN(3) == 0 {
				labelled(members[i], []string{"web", "db"}[random.IntN(2)])
			}
		}
		a := groupAttempt{g: gang(members...), nodes: view.NodeInfos, view: func(v *extpointstest.View) {
			v.GroupList = append(v.GroupList, view.GroupList...)
			v.BudgetList = view.BudgetList
		}}
		if random.IntN(2) == 0 {
			sociable(&a)
		} else {
			for _, w := range members {
				w.Labels = nil
			}
		}
		st := a.run(t)
		if !st.IsSuccess() {
			continue
		}
		done++
		var proposals []extpoints.Proposal
		for _, w := range members {
			proposals = append(proposals, extpoints.Proposal{Workload: w, Binding: model.Binding{Node: a.result.Nominations[w.ID].Nominate}})
		}
		want := groupReprieveTwin(view, 5, proposals)
		var got []string
		for _, e := range a.cycle.Requests().Evictions {
			got = append(got, e.ID)
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("seed %d, round %d: %v, want %v", seed, round, got, want)
		}
		if len(want) > 0 {
			some++
		}
	}
	if done < 1500 || some < 500 {
		t.Errorf("only %d groups found room, %d of them with victims", done, some)
	}
}

// quickTrial is a trial that knows the outcome: each member goes to a node of its
// own, all of which are empty once the victims have gone.
type quickTrial struct {
	after   extpoints.ClusterView
	members works
	listens bool
}

func (t *quickTrial) View() extpoints.ClusterView                        { return t.after }
func (t *quickTrial) Remove([]extpoints.PlacedMember)                    {}
func (t *quickTrial) Refused(string, string) ([]extpoints.Refusal, bool) { return nil, false }
func (t *quickTrial) Watches(*extpoints.Proposal) bool                   { return t.listens }
func (t *quickTrial) Reserve(p *extpoints.Proposal, _ *extpoints.NodeInfo) *extpoints.WorkloadInfo {
	return p.Workload
}

func (t *quickTrial) Schedule() (*extpoints.Assignments, *extpoints.Status) {
	a := &extpoints.Assignments{}
	for i, w := range t.members {
		s := extpoints.NewCycle(extpoints.CycleOptions{View: t.after, Now: now, Seed: 1}).State()
		listens.Set(s, &listener{})
		a.Proposals = append(a.Proposals, extpoints.Proposal{Workload: w, Binding: model.Binding{Workload: w.ID, Node: t.after.Nodes().At(i).Node.Name}, State: s})
	}
	return a, nil
}

// quickView finds the nodes of a view fast.
type quickView struct {
	*extpointstest.View
	nodes quickNodes
}

type quickNodes struct {
	extpoints.Nodes
	names map[string]*extpoints.NodeInfo
}

func (v *quickView) Nodes() extpoints.Nodes { return &v.nodes }

func (n *quickNodes) Get(name string) *extpoints.NodeInfo { return n.names[name] }

func quick(nodes infos) *quickView {
	view := extpointstest.NewView(nodes...)
	v := &quickView{view, quickNodes{view.Nodes(), map[string]*extpoints.NodeInfo{}}}
	for _, n := range nodes {
		v.nodes.names[n.Node.Name] = n
	}
	return v
}

// BenchmarkGroupPostFilter makes room for 100 members on 5,000 nodes with four
// workloads each, the trial left out: alone, or with a PreFilter extension that
// each member listens with. Aim: 1 us a victim, and 200 ns more for each member
// that listens, filters left out.
func BenchmarkGroupPostFilter(b *testing.B) {
	for _, listening := range []bool{false, true} {
		b.Run(fmt.Sprintf("listening=%v", listening), func(b *testing.B) {
			var before, after infos
			for i := range 5000 {
				n := extpoints.NewNodeInfo(&model.Node{Name: fmt.Sprint("n", i), Allocatable: model.Resources{CPU: 4000}})
				after = append(after, n.Clone())
				for j := range 4 {
					n.AddWorkload(on(fmt.Sprint("v", i, "-", j), 1, 1000, i+j+1))
				}
				before = append(before, n)
			}
			members := make(works, 100)
			for i := range members {
				members[i] = on(fmt.Sprint("m", i), 5, 2000, 0)
			}
			g := gang(members...)
			a := groupAttempt{engine: extpointstest.Preemption{Filters: fits}}
			if listening {
				sociable(&a)
			}
			p := &DefaultPreemption{args: Args{}.WithDefaults(), handle: handleOf(&a.engine)}
			view, trial := quick(before), &quickTrial{quick(after), members, listening}
			b.ReportAllocs()
			for b.Loop() {
				s := extpoints.NewCycle(extpoints.CycleOptions{Context: b.Context(), View: view, Now: now, Seed: 1}).State()
				if _, st := p.GroupPostFilter(s, g, trial); st.Message() != "group preemption: found a placement for group, preempting 200 victims" {
					b.Fatal(st)
				}
			}
		})
	}
}
