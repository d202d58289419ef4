package networkoverhead

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

func of(graph, component string) map[string]string {
	return map[string]string{"app": graph, "component": component}
}

// both are costs between two places, both ways.
func both(a, b string, cost int64) []model.NetworkCost {
	return []model.NetworkCost{{From: a, To: b, Cost: cost}, {From: b, To: a, Cost: cost}}
}

// basic is the cluster of the known answers, with the workloads placed: component and number
// of node.
func basic(placed map[string]int) *extpointstest.View {
	var nodes []*extpoints.NodeInfo
	for i := range 8 {
		region, zone := []string{"us-west-1", "us-east-1"}[i/4], fmt.Sprint("Z", 1+i/2)
		nodes = append(nodes, extpointstest.NodeWith(&model.Node{Name: fmt.Sprint("n-", 1+i), Labels: map[string]string{"region": region, "zone": zone}}))
	}
	for component, n := range placed {
		nodes[n-1].AddWorkload(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: component, Labels: of("basic", component)}})
	}
	view := extpointstest.NewView(nodes...)
	view.Put(&model.NetworkCosts{Name: "network", Levels: []model.CostLevel{
		{Key: "region", Costs: both("us-west-1", "us-east-1", 20)},
		{Key: "zone", Costs: append(both("Z1", "Z2", 5), both("Z3", "Z4", 10)...)},
	}})
	view.Put(&model.AppGraph{ID: "basic", Components: []model.AppComponent{
		{Name: "p1", Needs: []model.AppNeed{{Component: "p2"}}}, {Name: "p2", Needs: []model.AppNeed{{Component: "p3"}}}, {Name: "p3"},
	}})
	return view
}

func begin(t *testing.T, mode extpoints.Compat, v *extpointstest.View, w *model.Workload) (*NetworkOverhead, *extpoints.CycleState, *extpoints.WorkloadInfo) {
	t.Helper()
	h := extpointstest.NewHandle()
	h.Mode = mode
	p, err := New(Args{}, h)
	if err != nil {
		t.Fatal(err)
	}
	s := &extpointstest.Situation{Workload: &extpoints.WorkloadInfo{Workload: w}, View: v}
	state := s.State()
	if _, st := p.PreFilter(state, s.Workload); st != nil && st.Code() != extpoints.Skip {
		t.Fatal(st)
	}
	return p, state, s.Workload
}

// Known answers of the upstream plugin: networkoverhead_test.go, TestNetworkOverheadScore, all
// rows.
func TestKnownScores(t *testing.T) {
	for _, c := range []struct {
		component string
		raw, want []int64
	}{
		{"p1", []int64{20, 20, 20, 20, 0, 1, 10, 10}, []int64{0, 0, 0, 0, 100, 95, 50, 50}},
		{"p2", []int64{0, 1, 5, 5, 20, 20, 20, 20}, []int64{100, 95, 75, 75, 0, 0, 0, 0}},
		{"p3", make([]int64, 8), make([]int64, 8)},
	} {
		v := basic(map[string]int{"p1": 2, "p2": 5, "p3": 1})
		p, s, w := begin(t, extpoints.Improved, v, &model.Workload{ID: "w", Labels: of("basic", c.component)})
		var got []int64
		for _, n := range v.NodeInfos {
			score, st := p.Score(s, w, n)
			if st != nil {
				t.Error(st)
			}
			got = append(got, score)
		}
		if !slices.Equal(got, c.raw) {
			t.Errorf("%s: got %v, want %v", c.component, got, c.raw)
		}
		if st := p.NormalizeScore(s, w, v.NodeInfos, got); st != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, %v, want %v", c.component, got, st, c.want)
		}
	}
}

// Known answers of the upstream plugin: networkoverhead_test.go, TestNetworkOverheadFilter, all
// rows but the last two, which are the first two again. The text is that of upstream in its
// mode.
func TestKnownFilters(t *testing.T) {
	for _, c := range []struct {
		graph, component string
		node             int
		want             string
	}{
		{"basic", "p1", 1, "Satisfied: 0 Violated: 1"},
		{"basic", "p1", 6, ""},
		{"basic", "p2", 5, "Satisfied: 0 Violated: 1"},
		{"basic", "p2", 7, ""},
		{"basic", "p3", 1, ""},
		{"", "p10", 1, ""},
	} {
		v := basic(map[string]int{"p1": 2, "p2": 5, "p3": 8})
		for mode, text := range map[extpoints.Compat]string{
			extpoints.KubeScheduler137: fmt.Sprintf("Node n-%d does not meet several network requirements from Workload dependencies: %s", c.node, c.want),
			extpoints.Improved:         "node(s) were too far from the workloads that it talks to",
		} {
			if c.want == "" {
				text = ""
			}
			p, s, w := begin(t, mode, v, &model.Workload{ID: "w", Labels: of(c.graph, c.component)})
			st := p.Filter(s, w, v.NodeInfos[c.node-1])
			if st.Message() != text || text != "" && st.Code() != extpoints.Unschedulable {
				t.Errorf("%s on n-%d, %v: got %v, want %q", c.component, c.node, mode, st, text)
			}
		}
	}
}

// What upstream ends the process for, and what it does not look at.
func TestMissing(t *testing.T) {
	for name, spoil := range map[string]func(*extpointstest.View){
		"graph": func(v *extpointstest.View) { v.Drop(model.AppGraphKind, "basic") },
		"costs": func(v *extpointstest.View) { v.Drop(model.NetworkCostsKind, "network") },
		"peers": func(v *extpointstest.View) { v.NodeInfos[4].RemoveWorkload("p2") },
	} {
		v := basic(map[string]int{"p2": 5})
		spoil(v)
		p, s, w := begin(t, extpoints.Improved, v, &model.Workload{ID: "w", Labels: of("basic", "p1")})
		for _, n := range v.NodeInfos {
			if score, _ := p.Score(s, w, n); p.Filter(s, w, n) != nil || score != 0 {
				t.Errorf("%s missing: %s: %v, %d", name, n.Node.Name, p.Filter(s, w, n), score)
			}
		}
	}
}

func TestNormalize(t *testing.T) {
	for _, c := range []struct{ raw, want []int64 }{{[]int64{7, 7}, []int64{100, 100}}, {[]int64{0, 3}, []int64{100, 0}}, {nil, nil}} {
		got := slices.Clone(c.raw)
		if st := (&NetworkOverhead{}).NormalizeScore(nil, nil, nil, got); st != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.raw, got, c.want)
		}
	}
}

// random is a situation in which most are of an application.
func random(r *rand.Rand) *extpointstest.Situation {
	s := extpointstest.RandomSituation(r)
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	label := func(w *model.Workload) {
		labels := map[string]string{"component": pick("web", "cart", "db")}
		if r.IntN(6) > 0 {
			labels["app"] = pick("shop", "shop", "mail")
		}
		w.Labels = labels
	}
	label(s.Workload.Workload)
	for _, n := range s.View.NodeInfos {
		for _, w := range n.Workloads {
			label(w.Workload)
		}
	}
	for _, id := range []string{"shop", "mail"} {
		if r.IntN(8) > 0 {
			s.View.Put(graph(r, id))
		}
	}
	if r.IntN(8) > 0 {
		s.View.Put(costs(r))
	}
	return s
}

func graph(r *rand.Rand, id string) *model.AppGraph {
	g := &model.AppGraph{ID: id}
	for _, name := range []string{"web", "cart", "db"} {
		c := model.AppComponent{Name: name}
		for _, other := range []string{"web", "cart", "db"} {
			if r.IntN(2) == 0 {
				c.Needs = append(c.Needs, model.AppNeed{Component: other, MaxCost: r.Int64N(20)})
			}
		}
		g.Components = append(g.Components, c)
	}
	return g
}

func costs(r *rand.Rand) *model.NetworkCosts {
	n := &model.NetworkCosts{Name: "network"}
	for _, values := range [][]string{{"", "ssd", "hdd"}, {"a", "b"}} {
		l := model.CostLevel{Key: model.ByZone}
		if values[0] == "" {
			l.Key = "disk"
		}
		for _, from := range values {
			for _, to := range values {
				if from != to && r.IntN(3) > 0 {
					l.Costs = append(l.Costs, model.NetworkCost{From: from, To: to, Cost: r.Int64N(30)})
				}
			}
		}
		n.Levels = append(n.Levels, l)
	}
	return n
}

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New), Random: random, Change: change, Rounds: 500})
}

// change changes the graph or the costs or, one time in two, something else.
func change(r *rand.Rand, s *extpointstest.Situation) *extpointstest.Changed {
	if r.IntN(2) == 0 {
		return extpointstest.RandomChange(r, s)
	}
	view := *s.View
	view.Objects = slices.Clone(view.Objects)
	after := &extpointstest.Situation{Workload: s.Workload, View: &view}
	e := extpoints.Event{ClusterEvent: extpoints.ClusterEvent{Resource: model.AppGraphKind, Action: extpoints.Update}}
	if old := s.View.AppGraph("shop"); old != nil && r.IntN(2) == 0 {
		e.OldObject, e.NewObject = old, graph(r, "shop")
	} else if old := s.View.NetworkCosts("network"); old != nil {
		e.Resource, e.OldObject, e.NewObject = model.NetworkCostsKind, old, costs(r)
	} else {
		return nil
	}
	view.Put(e.NewObject)
	return &extpointstest.Changed{What: fmt.Sprintf("%s: %+v becomes %+v", e.ClusterEvent, e.OldObject, e.NewObject), After: after, Changes: []extpoints.Event{e}}
}

// TestCountsAreWhatTheyAre counts one by one, as the rules say, and without indexes.
func TestCountsAreWhatTheyAre(t *testing.T) {
	const seed = 20261126
	r := rand.New(rand.NewPCG(seed, seed))
	rejected, costly := 0, 0
	for i := range 5000 {
		s := random(r)
		p, state, w := begin(t, extpoints.Improved, s.View, s.Workload.Workload)
		view := s.View
		if i%3 == 0 { // one is taken off its node to try it out
			view = tryOut(p, state, s)
		}
		for _, n := range view.NodeInfos {
			want := slow(view, w.Workload, n)
			score, _ := p.Score(state, w, n)
			if got := p.Filter(state, w, n) != nil; got != (want.violated > want.satisfied) || score != want.cost {
				t.Fatalf("seed %d, round %d, %s: %v, %d, want %+v\n%v", seed, i, n.Node.Name, got, score, want, s)
			} else if got {
				rejected++
			} else if score > 0 {
				costly++
			}
		}
	}
	if min(rejected, costly) < 500 {
		t.Errorf("only %d were rejected and %d cost something", rejected, costly)
	}
}

func tryOut(p *NetworkOverhead, state *extpoints.CycleState, s *extpointstest.Situation) *extpointstest.View {
	view := extpointstest.NewView(slices.Clone(s.View.NodeInfos)...)
	view.Objects = s.View.Objects
	for i, n := range view.NodeInfos {
		if len(n.Workloads) > 0 {
			n = n.Clone()
			gone := n.Workloads[0]
			n.RemoveWorkload(gone.ID)
			p.RemoveWorkload(state, s.Workload, gone, n)
			other := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "other", Labels: of("shop", "db")}}
			n.AddWorkload(other)
			p.AddWorkload(state, s.Workload, other, n)
			view.NodeInfos[i] = n
		}
	}
	return view
}

func slow(v *extpointstest.View, w *model.Workload, at *extpoints.NodeInfo) (c count) {
	g, costs := v.AppGraph(w.Labels["app"]), v.NetworkCosts("network")
	if g == nil || costs == nil || w.Labels["app"] == "" {
		return c
	}
	for _, component := range g.Components {
		for _, need := range component.Needs {
			if component.Name != w.Labels["component"] {
				continue
			}
			for _, n := range v.NodeInfos {
				for _, other := range n.Workloads {
					if other.Labels["app"] == w.Labels["app"] && other.Labels["component"] == need.Component {
						slowPair(&c, costs, at.Node, n.Node, need.MaxCost)
					}
				}
			}
		}
	}
	return c
}

func slowPair(c *count, costs *model.NetworkCosts, from, to *model.Node, most int64) {
	if from.Name == to.Name {
		c.satisfied++
		return
	}
	value := func(n *model.Node, key string) string { v, _ := n.TopologyValue(key); return v }
	nowhere := true
	for _, l := range costs.Levels {
		nowhere = nowhere && value(to, l.Key) == ""
	}
	if nowhere {
		c.violated++
		c.cost += 100
		return
	}
	for _, l := range costs.Levels {
		a, b := value(from, l.Key), value(to, l.Key)
		if a == b {
			continue
		}
		for _, cost := range l.Costs {
			if cost.From == a && cost.To == b {
				c.cost += cost.Cost
				if cost.Cost <= most {
					c.satisfied++
				} else {
					c.violated++
				}
				return
			}
		}
		c.cost += 100
		return
	}
	c.satisfied++
	c.cost++
}

// Only what is of the application, or may be, wakes a workload.
func TestHints(t *testing.T) {
	p, err := New(Args{Labels: helper.AppLabels{Namespaces: []string{"a", "b"}}}, extpointstest.NewHandle())
	if err != nil {
		t.Fatal(err)
	}
	w := &model.Workload{ID: "w", Labels: of("shop", "web")}
	workload := func(graph string) *extpoints.WorkloadInfo {
		return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "o", Labels: of(graph, "db")}}
	}
	for _, c := range []struct {
		name  string
		event extpoints.Event
		hint  extpoints.HintFunc
		want  extpoints.Hint
	}{
		{"one of its application", extpoints.Event{NewWorkload: workload("shop")}, p.afterWorkload, extpoints.HintQueue},
		{"one that was of it", extpoints.Event{OldWorkload: workload("shop"), NewWorkload: workload("mail")}, p.afterWorkload, extpoints.HintQueue},
		{"one of another", extpoints.Event{OldWorkload: workload("mail")}, p.afterWorkload, extpoints.HintSkip},
		{"its graph", extpoints.Event{NewObject: &model.AppGraph{ID: "b/shop"}}, p.afterGraph, extpoints.HintQueue},
		{"another graph", extpoints.Event{OldObject: &model.AppGraph{ID: "c/shop"}}, p.afterGraph, extpoints.HintSkip},
	} {
		if got, err := c.hint(w, &c.event); got != c.want || err != nil {
			t.Errorf("%s: got %v, %v", c.name, got, err)
		}
	}
}

// Changes that say nothing of where workloads of an application are wake nobody.
func TestEvents(t *testing.T) {
	p, err := New(Args{}, extpointstest.NewHandle())
	if err != nil {
		t.Fatal(err)
	}
	list, err := p.EventsToRegister()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		event extpoints.ClusterEvent
		want  bool
	}{
		{extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.UpdateWorkloadLabel}, true},
		{extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete}, true},
		{extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.UpdateWorkloadScaleDown}, false},
		{extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Update}, false}, // told to go
		{extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.UpdateNodeLabel}, true},
		{extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.UpdateNodeAllocatable}, false},
		{extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadLabel}, true},
		{extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadToleration}, false},
	} {
		if got := slices.ContainsFunc(list, func(r extpoints.EventHint) bool { return r.Event.Matches(c.event) }); got != c.want {
			t.Errorf("%v: got %v", c.event, got)
		}
	}
}

func TestArgs(t *testing.T) {
	_, err := New(Args{Labels: helper.AppLabels{Graph: "component"}}, extpointstest.NewHandle())
	if err == nil || !strings.Contains(err.Error(), `component: "component" is the label of the graph`) {
		t.Error(err)
	}
}
