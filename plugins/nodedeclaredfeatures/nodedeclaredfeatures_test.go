package nodedeclaredfeatures

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(New),
		Random: func(r *rand.Rand) *extpointstest.Situation {
			s := extpointstest.RandomSituation(r)
			s.Workload.Features = []string{[]string{"a", "b"}[r.IntN(2)]}
			for _, node := range s.View.NodeInfos {
				node.Node.Features = [][]string{nil, {"a"}, {"b"}, {"a", "b"}}[r.IntN(4)]
			}
			return s
		},
	})
}

func TestFilter(t *testing.T) {
	const rejection = "UnschedulableAndUnresolvable: node(s) didn't match workload's required features"
	for _, c := range []struct {
		name  string
		needs []string
		node  []string
		pre   string
		want  string
	}{
		{"nothing needed, nothing there", nil, nil, "Skip", "Success"},
		{"nothing needed", nil, []string{"a"}, "Skip", "Success"},
		{"the one needed", []string{"a"}, []string{"a"}, "Success", "Success"},
		{"more than needed", []string{"b"}, []string{"a", "b", "c"}, "Success", "Success"},
		{"in another order", []string{"a", "b"}, []string{"b", "a"}, "Success", "Success"},
		{"needed twice", []string{"a", "a"}, []string{"a"}, "Success", "Success"},
		{"nothing there", []string{"a"}, nil, "Success", rejection},
		{"another", []string{"a"}, []string{"b"}, "Success", rejection},
		{"some but not all", []string{"a", "b"}, []string{"b", "c"}, "Success", rejection},
		{"the beginning of a name", []string{"ab"}, []string{"a"}, "Success", rejection},
		{"another case", []string{"A"}, []string{"a"}, "Success", rejection},
	} {
		s := extpointstest.NewSituation(&model.Workload{ID: "w", Features: c.needs},
			extpointstest.NodeWith(&model.Node{Name: "n", Features: c.node}))
		state, p := s.State(), &NodeDeclaredFeatures{}
		if result, got := p.PreFilter(state, s.Workload); result != nil || got.String() != c.pre {
			t.Errorf("%s: PreFilter: %v, %v, want %v", c.name, result, got, c.pre)
		}
		if got := p.Filter(state, s.Workload, s.View.NodeInfos[0]); got.String() != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestHints(t *testing.T) {
	node := func(features ...string) *model.Node { return &model.Node{Name: "n", Features: features} }
	for _, c := range []struct {
		name     string
		old, new *model.Node
		want     extpoints.Hint
		fails    bool
	}{
		{"no node", node("a"), nil, extpoints.HintQueue, true},
		{"a new node", nil, node("a"), extpoints.HintQueue, false},
		{"a new node without features", nil, node(), extpoints.HintQueue, false},
		{"the same features", node("a", "b"), node("a", "b"), extpoints.HintSkip, false},
		{"one more", node("a"), node("a", "b"), extpoints.HintQueue, false},
		{"one less", node("a", "b"), node("a"), extpoints.HintQueue, false},
	} {
		got, err := afterNodeChange(&model.Workload{ID: "w"}, &extpoints.Event{OldNode: c.old, NewNode: c.new})
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	workload := func(features ...string) *extpoints.WorkloadInfo {
		return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w", Features: features}}
	}
	for _, c := range []struct {
		name     string
		old, new *extpoints.WorkloadInfo
		want     extpoints.Hint
		fails    bool
	}{
		{"no workload", workload("a"), nil, extpoints.HintQueue, true},
		{"the same needs", workload("a", "b"), workload("a", "b"), extpoints.HintSkip, false},
		{"the same in another order", workload("a", "b"), workload("b", "a", "b"), extpoints.HintSkip, false},
		{"one more", workload("a"), workload("a", "b"), extpoints.HintQueue, false},
		{"one less", workload("a", "b"), workload("b"), extpoints.HintQueue, false},
		{"none any more", workload("a"), workload(), extpoints.HintQueue, false},
	} {
		got, err := afterWorkloadChange(&model.Workload{ID: "w"}, &extpoints.Event{OldWorkload: c.old, NewWorkload: c.new})
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestSign(t *testing.T) {
	sign := func(features ...string) string {
		fragments, status := (&NodeDeclaredFeatures{}).Sign(&model.Workload{ID: "w", Features: features})
		if !status.IsSuccess() || len(fragments) != 1 {
			t.Fatalf("%v: %v, %v", features, fragments, status)
		}
		return fragments[0].Value
	}
	for _, c := range []struct {
		a, b []string
		same bool
	}{
		{[]string{"a", "b"}, []string{"b", "a", "a"}, true},
		{nil, []string{}, true},
		{nil, []string{"a"}, false},
		{[]string{"a b"}, []string{"a", "b"}, false},
	} {
		if got := sign(c.a...) == sign(c.b...); got != c.same {
			t.Errorf("%q and %q are signed alike: %v, want %v", c.a, c.b, got, c.same)
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	p := &NodeDeclaredFeatures{}
	w := &model.Workload{ID: "w", Features: []string{"one", "two"}}
	for name, node := range map[string]*model.Node{
		"accepted": {Name: "n", Features: []string{"zero", "one", "two", "three"}}, "rejected": {Name: "n", Features: []string{"one"}},
	} {
		s := extpointstest.NewSituation(w, extpointstest.NodeWith(node))
		state := s.State()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Filter(state, s.Workload, s.View.NodeInfos[0])
			}
		})
	}
}
