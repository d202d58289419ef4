package defaultpreemption

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// Which nodes are tried, and which candidates are kept. A node is "a" (its
// victim is allowed), "v" (a budget forbids it) or "x" (no candidate); the search
// begins with the first.
func TestSearch(t *testing.T) {
	for _, c := range []struct {
		name, nodes string
		absolute    int32
		tried       int
		want        string
	}{
		{"all, where there are few", "aaaa", 100, 4, "0 1 2 3"},
		{"enough", "aaaa", 2, 2, "0 1"},
		{"what is no candidate does not count", "xaxaxa", 2, 4, "1 3"},
		{"one that breaks no budget is wanted", "vvva", 2, 4, "3 0 1"},
		{"and is enough with others", "avaa", 2, 2, "0 1"},
		{"no more are kept than are wanted", "vvvvx", 2, 5, "0 1"},
		{"those that break no budget come first", "vava", 4, 4, "1 3 0 2"},
	} {
		var nodes infos
		for i, kind := range c.nodes {
			w := on(fmt.Sprint("on", i), 1, 900, 1)
			switch kind {
			case 'v':
				labelled(w, "web")
			case 'x':
				w.Priority = 9
			}
			nodes = append(nodes, node(fmt.Sprint(i), 1000, w))
		}
		tried := 0
		a := attempt{
			args: Args{MinCandidateNodesPercentage: p32(0), MinCandidateNodesAbsolute: &c.absolute},
			w:    on("w", 5, 600, 0), nodes: nodes, view: withBudgets(budget("b", "web", 0)),
		}
		a.engine.Filters = func(s *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
			if len(n.Workloads) == 0 {
				tried++ // once a node that has victims
			}
			return fits(s, w, n)
		}
		keep := &extender{answer: func(v map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) { return v, nil }}
		a.engine.Outside = []extpoints.Extender{keep.outside()}
		a.run(t)
		tried += strings.Count(c.nodes[:min(c.tried, len(c.nodes))], "x")
		var got []string
		for _, seen := range keep.seen {
			name, _, _ := strings.Cut(seen, "=")
			got = append(got, name)
		}
		want := strings.Fields(c.want)
		slices.Sort(want)
		if tried != c.tried || !slices.Equal(got, want) {
			t.Errorf("%s: tried %d, candidates %v; want %d, %v", c.name, tried, got, c.tried, want)
		}
		p := &DefaultPreemption{args: a.args.WithDefaults(), handle: handleOf(&a.engine)}
		found := p.search(a.cycle.State(), a.w, statuses{a.cycle.State().View(), a.w, nil}.WithCode(extpoints.Unschedulable), nil)
		var order []string
		for i := range found.candidates {
			order = append(order, found.candidates[i].name())
		}
		if got := strings.Join(order, " "); got != c.want {
			t.Errorf("%s: candidates in the order %s, want %s", c.name, got, c.want)
		}
	}
}

func handleOf(engine extpoints.Preemption) extpoints.Handle {
	h := extpointstest.NewHandle()
	h.Preempting = engine
	return h
}

// The search begins somewhere, by the seed, and goes around once.
func TestSearchBeginsBySeed(t *testing.T) {
	nodes := make(infos, 7)
	for i := range nodes {
		nodes[i] = node(fmt.Sprint("n", i), 1000, on("v", 1, 900, 1))
	}
	first := map[string]int{}
	for seed := uint64(1); seed < 700; seed++ {
		var tried []string
		a := attempt{w: on("w", 5, 600, 0), nodes: nodes, seed: seed, args: Args{MinCandidateNodesAbsolute: p32(3)}}
		a.engine.Filters = func(s *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
			if len(n.Workloads) == 0 {
				tried = append(tried, n.Node.Name)
			}
			return fits(s, w, n)
		}
		a.run(t)
		first[tried[0]]++
		i := slices.IndexFunc(nodes, func(n *extpoints.NodeInfo) bool { return n.Node.Name == tried[0] })
		if want := []string{nodes[i].Node.Name, nodes[(i+1)%7].Node.Name, nodes[(i+2)%7].Node.Name}; !slices.Equal(tried, want) {
			t.Fatalf("seed %d: tried %v, want %v", seed, tried, want)
		}
		// All three are equal: the first in visiting order is taken.
		want := nodes[i].Node.Name
		if i > 4 {
			want = "n0"
		}
		if a.result.Nominate != want {
			t.Fatalf("seed %d: %s of %v, want %s", seed, a.result.Nominate, tried, want)
		}
	}
	for _, n := range nodes {
		if first[n.Node.Name] < 60 {
			t.Errorf("the search began %v times", first)
		}
	}
}

func TestExtenders(t *testing.T) {
	type answer = map[string]*extpoints.Victims
	keep := func(v answer) (answer, error) { return v, nil }
	drop := func(names ...string) func(answer) (answer, error) {
		return func(v answer) (answer, error) {
			left := answer{}
			for name, victims := range v {
				if !slices.Contains(names, name) {
					left[name] = victims
				}
			}
			return left, nil
		}
	}
	other := victimsOf(0, on("x", 1, 100, 1), on("y", 1, 100, 1))
	choose := func(name string, victims *extpoints.Victims) func(answer) (answer, error) {
		return func(answer) (answer, error) { return answer{name: victims}, nil }
	}
	fail := func(answer) (answer, error) { return nil, fmt.Errorf("no line") }
	for _, c := range []struct {
		name      string
		extenders []*extender
		want      string
		says      string // where it is no success
		seen      string // by the last
	}{
		{"all may stay", []*extender{{answer: keep}}, "n1: a", "", "n1=a n2=b,c"},
		{"one is dropped", []*extender{{answer: drop("n1")}}, "n2: b c", "", "n1=a n2=b,c"},
		{"the second hears what the first left", []*extender{{answer: drop("n1")}, {answer: keep}}, "n2: b c", "", "n2=b,c"},
		{"all are dropped: nobody else is asked", []*extender{{answer: drop("n1", "n2")}, {answer: fail}}, "", "Unschedulable: preemption: no candidate node for preemption", ""},
		{"other victims", []*extender{{answer: choose("n2", other)}}, "n2: x y", "", "n1=a n2=b,c"},
		{"not interested", []*extender{{about: "somebody", answer: fail}}, "n1: a", "", ""},
		{"it fails", []*extender{{answer: fail}}, "", "Error: preemption: no line", "n1=a n2=b,c"},
		{"it fails and may be ignored", []*extender{{answer: drop("n1")}, {ignorable: true, answer: fail}}, "n2: b c", "", "n2=b,c"},
		{"no victims", []*extender{{answer: choose("n2", victimsOf(0))}}, "", `Error: preemption: expected at least one victim on node "n2"`, "n1=a n2=b,c"},
		{"none at all", []*extender{{answer: choose("n2", nil)}}, "", `Error: preemption: expected at least one victim on node "n2"`, "n1=a n2=b,c"},
		{"no victims, ignorable: the node is dropped", []*extender{{ignorable: true, answer: func(v answer) (answer, error) {
			return answer{"n1": nil, "n2": v["n2"]}, nil
		}}}, "n2: b c", "", "n1=a n2=b,c"},
		{"a node that is no candidate", []*extender{{name: "E", answer: choose("n9", other)}}, "", `Error: preemption: extender "E" chooses node "n9", which is no candidate`, "n1=a n2=b,c"},
		{"the same, ignorable: nothing is left", []*extender{{ignorable: true, answer: choose("n9", other)}}, "", "Unschedulable: preemption: no candidate node for preemption", "n1=a n2=b,c"},
	} {
		a := attempt{w: on("w", 5, 900, 0), nodes: infos{node("n1", 1000, on("a", 1, 900, 1)), node("n2", 1000, on("b", 1, 500, 2), on("c", 1, 500, 1))}}
		for _, e := range c.extenders {
			a.engine.Outside = append(a.engine.Outside, e.outside())
		}
		st := a.run(t)
		if got := a.String(); got != c.want || c.says == "" != st.IsSuccess() || c.says != "" && st.String() != c.says {
			t.Errorf("%s: %s, %v; want %s, %s", c.name, got, st, c.want, c.says)
		}
		if seen := strings.Join(c.extenders[len(c.extenders)-1].seen, " "); seen != c.seen {
			t.Errorf("%s: the last one saw %q, want %q", c.name, seen, c.seen)
		}
	}
}

// BenchmarkPostFilter is an attempt on nodes with four workloads each, all of
// them victims or, where it says so, too important. Aim: 1 us a node that is
// tried.
func BenchmarkPostFilter(b *testing.B) {
	for _, priority := range []int32{5, 0} {
		for _, n := range []int{1000, 5000} {
			b.Run(fmt.Sprintf("nodes=%d/priority=%d", n, priority), func(b *testing.B) {
				view := extpointstest.NewView()
				for i := range n {
					node := extpoints.NewNodeInfo(&model.Node{Name: fmt.Sprint("n", i), Allocatable: model.Resources{CPU: 4000}})
					for j := range 4 {
						node.AddWorkload(on(fmt.Sprint("v", i, "-", j), 1, 1000, i+j+1))
					}
					view.NodeInfos = append(view.NodeInfos, node)
				}
				p := &DefaultPreemption{args: Args{}.WithDefaults(), handle: handleOf(&extpointstest.Preemption{Filters: fits})}
				w := on("w", priority, 2000, 0)
				all := everywhere(view.NodeInfos)
				b.ReportAllocs()
				for seed := uint64(0); b.Loop(); seed++ {
					s := extpoints.NewCycle(extpoints.CycleOptions{Context: b.Context(), View: view, Now: now, Seed: seed}).State()
					if _, st := p.PostFilter(s, w, all); st.IsSuccess() != (priority > 0) {
						b.Fatal(st)
					}
				}
			})
		}
	}
}

// everywhere says that every node lacks room.
type everywhere infos

func (everywhere) Get(string) *extpoints.Status                    { return insufficient }
func (e everywhere) WithCode(extpoints.Code) []*extpoints.NodeInfo { return e }
