package topologicalsort

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// graph has the components in the order.
func graph(id string, names string) *model.AppGraph {
	g := &model.AppGraph{ID: id}
	for _, name := range strings.Fields(names) {
		g.Components = append(g.Components, model.AppComponent{Name: name})
	}
	return g
}

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(New),
		Handle: func() extpoints.Handle {
			h := extpointstest.NewHandle()
			view := extpointstest.NewView()
			view.Put(graph("web", "b a"))
			h.Cluster = view
			return h
		},
		Random: func(r *rand.Rand) *extpointstest.Situation {
			s := extpointstest.RandomSituation(r)
			s.Workload.Labels = map[string]string{"app": []string{"web", "db", ""}[r.IntN(3)], "component": []string{"a", "b", "c"}[r.IntN(3)]}
			return s
		},
	})
}

func queued(graph, component string, priority int32, at int) *extpoints.Queued {
	return &extpoints.Queued{
		Workload: &model.Workload{ID: fmt.Sprint(graph, component, at), Labels: map[string]string{"app": graph, "component": component}},
		Priority: priority, Timestamp: extpointstest.Now.Add(time.Duration(at) * time.Second),
	}
}

func untimed(q *extpoints.Queued) *extpoints.Queued {
	q.Timestamp = time.Time{}
	return q
}

func plugin(t *testing.T) *TopologicalSort {
	t.Helper()
	h := extpointstest.NewHandle()
	view := extpointstest.NewView()
	view.Put(graph("ns/basic", "p1 p2 p3"))
	boutique := graph("ns/onlineboutique", "p1 p10 p9 p8 p7 p6 p5 p4 p3 p2 p11")
	boutique.CreatedAt = extpointstest.Now.Add(10 * time.Second)
	view.Put(boutique)
	h.Cluster = view
	p, err := New(Args{Labels: helper.AppLabels{Namespaces: []string{"other", "ns"}}}, h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The first three are known answers of the upstream plugin: topologicalsort_test.go, all rows.
func TestLess(t *testing.T) {
	p := plugin(t)
	for _, c := range []struct {
		name string
		a, b *extpoints.Queued
		want bool
	}{
		{"basic, same AppGroup, p1 order lower than p2", queued("basic", "p1", 0, 0), queued("basic", "p2", 0, 0), true},
		{"onlineboutique, same AppGroup, p5 order higher than p1", queued("onlineboutique", "p5", 0, 0), queued("onlineboutique", "p1", 0, 0), false},
		{"pods from different AppGroups... ", untimed(queued("basic", "p1", 0, 0)), untimed(queued("other", "p5", 0, 0)), false},

		{"the order, not the name", queued("onlineboutique", "p9", 0, 5), queued("onlineboutique", "p2", 0, 1), true},
		{"of one component by time", queued("basic", "p1", 0, 1), queued("basic", "p1", 0, 2), true},
		{"not before itself", queued("basic", "p1", 0, 1), queued("basic", "p1", 0, 1), false},
		{"what is not there comes first", queued("basic", "new", 0, 2), queued("basic", "p1", 0, 1), true},
		{"a higher priority, all the same", queued("basic", "p3", 1, 2), queued("basic", "p1", 0, 1), true},
		{"the graph's time", queued("onlineboutique", "p1", 0, 1), queued("", "", 0, 9), false},
		{"the graph's time, later", queued("onlineboutique", "p1", 0, 20), queued("", "", 0, 11), true},
		{"of none by time", queued("", "", 0, 1), queued("missing", "p1", 0, 2), true},
	} {
		if got := p.Less(c.a, c.b); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

// It is an order: nothing comes before itself, and there are no circles.
func TestLessIsAnOrder(t *testing.T) {
	const seed = 7
	r, p := rand.New(rand.NewPCG(seed, seed)), plugin(t)
	for range 20000 {
		var q [3]*extpoints.Queued
		for i := range q {
			q[i] = queued([]string{"basic", "onlineboutique", "missing", ""}[r.IntN(4)], fmt.Sprint("p", 1+r.IntN(12)), r.Int32N(2), r.IntN(20))
		}
		a, b, c := q[0], q[1], q[2]
		if p.Less(a, b) && (p.Less(b, a) || p.Less(b, c) && !p.Less(a, c)) {
			t.Fatalf("seed %d: %+v, %+v, %+v", seed, a.Workload, b.Workload, c.Workload)
		}
		if !p.Less(a, b) && !p.Less(b, a) && p.Less(a, c) != p.Less(b, c) {
			t.Fatalf("seed %d: equal, and not to %+v: %+v, %+v", seed, c.Workload, a.Workload, b.Workload)
		}
	}
}

func TestArgs(t *testing.T) {
	_, err := New(Args{Labels: helper.AppLabels{Component: "app"}}, extpointstest.NewHandle())
	if err == nil || !strings.Contains(err.Error(), `component: "app" is the label of the graph`) {
		t.Error(err)
	}
}
