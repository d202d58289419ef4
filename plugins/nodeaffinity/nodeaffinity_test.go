package nodeaffinity

import (
	"maps"
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New)})
}

func TestContractWithAddedAffinity(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(New),
		Args: &Args{AddedAffinity: &model.NodeAffinity{
			Required:  &model.NodeTerms{Terms: []model.NodeTerm{labels(in("zone", "a"))}},
			Preferred: []model.PreferredNodeTerm{{Weight: 7, NodeTerm: labels(in("disk", "ssd"))}},
		}},
		Without: map[string]string{"Hints": "as in the reference, hints do not ask whether the added affinity matched before"},
	})
}

func require(key string, operator model.Operator, values ...string) model.Requirement {
	return model.Requirement{Key: key, Operator: operator, Values: values}
}

func in(key string, values ...string) model.Requirement { return require(key, model.In, values...) }

func name(operator model.Operator, values ...string) model.Requirement {
	return require(model.FieldName, operator, values...)
}

func labels(r ...model.Requirement) model.NodeTerm { return model.NodeTerm{Labels: r} }

func fields(r ...model.Requirement) model.NodeTerm { return model.NodeTerm{Fields: r} }

func both(l, f model.Requirement) model.NodeTerm {
	return model.NodeTerm{Labels: []model.Requirement{l}, Fields: []model.Requirement{f}}
}

func requiring(terms ...model.NodeTerm) *model.Workload {
	return &model.Workload{ID: "w", NodeAffinity: &model.NodeAffinity{Required: &model.NodeTerms{Terms: terms}}}
}

func selecting(w *model.Workload, selector map[string]string) *model.Workload {
	w.NodeSelector = selector
	return w
}

func newPlugin(t testing.TB, added *model.NodeAffinity) *NodeAffinity {
	t.Helper()
	p, err := New(Args{AddedAffinity: added}, extpointstest.NewHandle())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const (
	own      = "UnschedulableAndUnresolvable: node(s) didn't match workload's node affinity/selector"
	added    = "UnschedulableAndUnresolvable: node(s) didn't match scheduler-enforced node affinity"
	clash    = "UnschedulableAndUnresolvable: workload affinity terms conflict"
	accepted = "Success"
	skipped  = "Skip"
)

var bar = map[string]string{"foo": "bar"}

var filterCases = []struct {
	name   string
	w      *model.Workload
	labels map[string]string
	added  *model.NodeAffinity
	pre    string
	names  []string // that PreFilter narrows the search down to
	filter string
}{
	{"nothing wanted", &model.Workload{}, nil, nil, skipped, nil, accepted},
	{"selector, label missing", selecting(&model.Workload{}, bar), nil, nil, accepted, nil, own},
	{"selector, label there", selecting(&model.Workload{}, bar), bar, nil, accepted, nil, accepted},
	{"selector, more labels than wanted", selecting(&model.Workload{}, bar), map[string]string{"foo": "bar", "baz": "blah"}, nil, accepted, nil, accepted},
	{"selector, fewer labels than wanted", selecting(&model.Workload{}, map[string]string{"foo": "bar", "baz": "blah"}), bar, nil, accepted, nil, own},
	{"an empty selector is none", selecting(&model.Workload{}, map[string]string{}), nil, nil, skipped, nil, accepted},
	{"selector for an empty value, label missing", selecting(&model.Workload{}, map[string]string{"foo": ""}), nil, nil, accepted, nil, own},
	{"In", requiring(labels(in("foo", "bar", "value2"))), bar, nil, accepted, nil, accepted},
	{"In, another value", requiring(labels(in("foo", "value1", "value2"))), bar, nil, accepted, nil, own},
	{"Gt", requiring(labels(require("v", model.Gt, "0204"))), map[string]string{"v": "0206"}, nil, accepted, nil, accepted},
	{"Lt", requiring(labels(require("v", model.Lt, "0204"))), map[string]string{"v": "0206"}, nil, accepted, nil, own},
	{"NotIn", requiring(labels(require("mem-type", model.NotIn, "DDR", "DDR2"))), map[string]string{"mem-type": "DDR3"}, nil, accepted, nil, accepted},
	{"Exists", requiring(labels(require("gpu", model.Exists))), map[string]string{"gpu": "x"}, nil, accepted, nil, accepted},
	{"DoesNotExist", requiring(labels(require("gpu", model.DoesNotExist))), map[string]string{"gpu": "x"}, nil, accepted, nil, own},
	{"an empty term matches nothing", requiring(labels()), bar, nil, accepted, nil, own},
	{"no terms match nothing", requiring(), bar, nil, accepted, nil, own},
	{"no required part", &model.Workload{NodeAffinity: &model.NodeAffinity{}}, bar, nil, skipped, nil, accepted},
	{"both of two requirements", requiring(labels(require("gpu", model.Exists), require("gpu", model.NotIn, "AMD"))), map[string]string{"gpu": "x"}, nil, accepted, nil, accepted},
	{"one of two requirements", requiring(labels(require("gpu", model.Exists), in("gpu", "AMD"))), map[string]string{"gpu": "x"}, nil, accepted, nil, own},
	{"one of two terms", requiring(labels(in("foo", "bar")), labels(in("diff", "x"))), bar, nil, accepted, nil, accepted},
	{"selector and affinity", selecting(requiring(labels(require("foo", model.Exists))), bar), bar, nil, accepted, nil, accepted},
	{"affinity without selector", selecting(requiring(labels(require("foo", model.Exists))), bar), map[string]string{"foo": "other"}, nil, accepted, nil, own},
	{"a malformed term matches nothing", requiring(labels(require("foo", model.NotIn))), nil, nil, accepted, nil, own},
	{"a malformed term leaves the others alone", requiring(labels(require("foo", "Nonsense")), labels(in("foo", "bar"))), bar, nil, accepted, nil, accepted},

	{"named", requiring(fields(name(model.In, "node1"))), nil, nil, accepted, []string{"node1"}, accepted},
	{"another named", requiring(fields(name(model.In, "node2"))), nil, nil, accepted, []string{"node2"}, own},
	{"another not wanted", requiring(fields(name(model.NotIn, "node2"))), nil, nil, accepted, nil, accepted},
	{"named, or by label", requiring(fields(name(model.In, "node2")), labels(in("foo", "bar"))), bar, nil, accepted, nil, accepted},
	{"named and by label, wrong name", requiring(both(in("foo", "bar"), name(model.In, "node2"))), bar, nil, accepted, []string{"node2"}, own},
	{"named and by label", requiring(both(in("foo", "bar"), name(model.In, "node1"))), bar, nil, accepted, []string{"node1"}, accepted},
	{"named or by label, neither", requiring(fields(name(model.In, "node2")), labels(in("foo", "no"))), bar, nil, accepted, nil, own},
	{"two named", requiring(fields(name(model.In, "node2")), fields(name(model.In, "node1"))), nil, nil, accepted, []string{"node1", "node2"}, accepted},
	{"one named twice", requiring(fields(name(model.In, "node1"), name(model.In, "node1"))), nil, nil, accepted, []string{"node1"}, accepted},
	{"two names for one node", requiring(fields(name(model.In, "node1"), name(model.In, "node2"))), nil, nil, clash, nil, ""},
	{"two names for one node, or another", requiring(fields(name(model.In, "node1"), name(model.In, "node2")), fields(name(model.In, "node1"))), nil, nil, accepted, []string{"node1"}, accepted},

	{"added and own", requiring(labels(in("foo", "bar"))), bar, requiring(fields(name(model.In, "node1"))).NodeAffinity, accepted, nil, accepted},
	{"added, but not own", requiring(labels(in("foo", "other"))), bar, requiring(fields(name(model.In, "node1"))).NodeAffinity, accepted, nil, own},
	{"not added", &model.Workload{}, bar, requiring(fields(name(model.In, "node2"))).NodeAffinity, accepted, nil, added},
	{"neither added nor own", requiring(labels(in("foo", "other"))), bar, requiring(fields(name(model.In, "node2"))).NodeAffinity, accepted, nil, added},
}

func TestFilter(t *testing.T) {
	for _, c := range filterCases {
		p := newPlugin(t, c.added)
		s := extpointstest.NewSituation(c.w, extpointstest.NodeWith(&model.Node{Name: "node1", Labels: c.labels}))
		state := s.State()
		alone := p.Filter(state, s.Workload, s.View.NodeInfos[0])
		result, status := p.PreFilter(state, s.Workload)
		var names []string
		if result != nil {
			names = slices.Sorted(maps.Keys(result.Nodes))
		}
		if status.String() != c.pre || !slices.Equal(names, c.names) {
			t.Errorf("%s: PreFilter %v %v, want %v %v", c.name, status, names, c.pre, c.names)
		}
		if c.filter == "" {
			continue
		}
		got := p.Filter(state, s.Workload, s.View.NodeInfos[0])
		if got.String() != c.filter || alone.String() != c.filter {
			t.Errorf("%s: Filter %v (without PreFilter %v), want %v", c.name, got, alone, c.filter)
		}
	}
}

func TestScore(t *testing.T) {
	prefer := func(weight int32, r ...model.Requirement) model.PreferredNodeTerm {
		return model.PreferredNodeTerm{Weight: weight, NodeTerm: labels(r...)}
	}
	liking := func(terms ...model.PreferredNodeTerm) *model.NodeAffinity {
		return &model.NodeAffinity{Preferred: terms}
	}
	nodes := []*extpoints.NodeInfo{
		extpointstest.NodeWith(&model.Node{Name: "n1", Labels: map[string]string{"foo": "bar"}}),
		extpointstest.NodeWith(&model.Node{Name: "n2", Labels: map[string]string{"key": "value"}}),
		extpointstest.NodeWith(&model.Node{Name: "n5", Labels: map[string]string{"foo": "bar", "key": "value", "az": "az1"}}),
	}
	several := liking(prefer(2, in("foo", "bar")), prefer(4, in("key", "value")), prefer(5, in("foo", "bar"), in("key", "value"), in("az", "az1")))
	for _, c := range []struct {
		name      string
		own       *model.NodeAffinity
		added     *model.NodeAffinity
		skip      bool
		raw, want []int64
	}{
		{"nothing liked", nil, nil, true, []int64{0, 0, 0}, []int64{0, 0, 0}},
		{"only a required part", requiring(labels(in("foo", "bar"))).NodeAffinity, nil, true, []int64{0, 0, 0}, []int64{0, 0, 0}},
		{"no node is liked", liking(prefer(2, in("foo", "other"))), nil, false, []int64{0, 0, 0}, []int64{0, 0, 0}},
		{"some are", liking(prefer(2, in("foo", "bar"))), nil, false, []int64{2, 0, 2}, []int64{100, 0, 100}},
		// 2, 4 and 2+4+5 of 11.
		{"some more than others", several, nil, false, []int64{2, 4, 11}, []int64{18, 36, 100}},
		{"added", nil, liking(prefer(3, in("foo", "bar"))), false, []int64{3, 0, 3}, []int64{100, 0, 100}},
		{"own and added", several, liking(prefer(5, in("key", "value"))), false, []int64{2, 9, 16}, []int64{12, 56, 100}},
		{"an empty preference changes nothing", liking(prefer(9), prefer(2, in("foo", "bar"))), nil, false, []int64{2, 0, 2}, []int64{100, 0, 100}},
		{"by name", liking(model.PreferredNodeTerm{Weight: 3, NodeTerm: fields(name(model.In, "n2"))}), nil, false, []int64{0, 3, 0}, []int64{0, 100, 0}},
	} {
		p := newPlugin(t, c.added)
		s := extpointstest.NewSituation(&model.Workload{ID: "w", NodeAffinity: c.own}, nodes...)
		state := s.State()
		if status := p.PreScore(state, s.Workload, nodes); status.Code() == extpoints.Skip != c.skip || !c.skip && status != nil {
			t.Errorf("%s: PreScore %v", c.name, status)
		}
		var scores []int64
		for _, n := range nodes {
			score, status := p.Score(state, s.Workload, n)
			if status != nil {
				t.Errorf("%s: %v", c.name, status)
			}
			scores = append(scores, score)
		}
		raw := slices.Clone(scores)
		p.NormalizeScore(state, s.Workload, nodes, scores)
		if !slices.Equal(raw, c.raw) || !slices.Equal(scores, c.want) {
			t.Errorf("%s: %v and %v, want %v and %v", c.name, raw, scores, c.raw, c.want)
		}
	}
}

func TestHint(t *testing.T) {
	node := func(labels map[string]string) *model.Node { return &model.Node{Name: "n", Labels: labels} }
	foo, other, az := map[string]string{"foo": "bar"}, map[string]string{"foo": "other"}, map[string]string{"az": "1"}
	both := map[string]string{"foo": "bar", "az": "1"}
	w := requiring(labels(in("foo", "bar")))
	toAZ := requiring(labels(in("az", "1"))).NodeAffinity
	for _, c := range []struct {
		name     string
		w        *model.Workload
		added    *model.NodeAffinity
		old, new *model.Node
		want     extpoints.Hint
	}{
		{"no node", w, nil, node(nil), nil, extpoints.HintQueue},
		{"a new node that does not match", w, nil, nil, node(other), extpoints.HintSkip},
		{"a new node that matches", w, nil, nil, node(foo), extpoints.HintQueue},
		{"begins to match", w, nil, node(nil), node(foo), extpoints.HintQueue},
		{"matches as before", w, nil, node(foo), node(both), extpoints.HintSkip},
		{"does not match as before", w, nil, node(nil), node(other), extpoints.HintSkip},
		{"no longer matches", w, nil, node(foo), node(other), extpoints.HintSkip},
		{"a selector begins to match", selecting(&model.Workload{}, foo), nil, node(other), node(foo), extpoints.HintQueue},
		{"a new node matches own but not added", w, toAZ, nil, node(foo), extpoints.HintSkip},
		{"a new node matches added but not own", w, toAZ, nil, node(az), extpoints.HintSkip},
		{"a new node matches both", w, toAZ, nil, node(both), extpoints.HintQueue},
		{"begins to match own, added all along", w, toAZ, node(az), node(both), extpoints.HintQueue},
		{"begins to match both", w, toAZ, node(nil), node(both), extpoints.HintQueue},
		// It is so in the reference, though Filter would now accept the node.
		{"begins to match added, own all along", w, toAZ, node(foo), node(both), extpoints.HintSkip},
	} {
		got, err := newPlugin(t, c.added).afterNodeChange(c.w, &extpoints.Event{OldNode: c.old, NewNode: c.new})
		if got != c.want || (err != nil) != (c.new == nil) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestArgs(t *testing.T) {
	for _, c := range []struct {
		name string
		args any
		want string
	}{
		{"none", nil, ""},
		{"nothing added", &Args{}, ""},
		{"every kind of wrong", Args{AddedAffinity: &model.NodeAffinity{
			Required: &model.NodeTerms{Terms: []model.NodeTerm{labels(in("foo", "bar")), both(require("", model.Exists), name(model.Gt, "1"))}},
			Preferred: []model.PreferredNodeTerm{
				{Weight: 0, NodeTerm: labels(in("foo", "bar"))}, {Weight: 1, NodeTerm: labels(require("foo", "Near", "bar"))},
			},
		}}, `arguments of plugin "NodeAffinity": addedAffinity.required.terms[1].labels[0].key: must not be empty; ` +
			`addedAffinity.required.terms[1].fields[0].operator: "Gt" is not one of In, NotIn; ` +
			`addedAffinity.preferred[0].weight: 0 is not between 1 and 100; ` +
			`addedAffinity.preferred[1].labels[0].operator: "Near" is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt`},
	} {
		p, err := extpoints.FactoryOf(New)(c.args, nil)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want || (p == nil) != (err != nil) {
			t.Errorf("%s: %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestSign(t *testing.T) {
	sign := func(w *model.Workload) []extpoints.SignFragment {
		fragments, _ := (&NodeAffinity{}).Sign(w)
		return fragments
	}
	a, b := labels(in("a", "1", "2"), in("b", "1")), fields(name(model.In, "n"))
	first := selecting(requiring(a, b), map[string]string{"x": "1", "y": "2"})
	second := selecting(requiring(b, labels(in("b", "1"), in("a", "2", "1"))), map[string]string{"y": "2", "x": "1"})
	if !slices.Equal(sign(first), sign(second)) {
		t.Errorf("the same in another order:\n%v\n%v", sign(first), sign(second))
	}
	if slices.Equal(sign(requiring()), sign(&model.Workload{NodeAffinity: &model.NodeAffinity{}})) {
		t.Error("no terms, which match nothing, and no condition are signed alike")
	}
}

func BenchmarkFilter(b *testing.B) {
	p := newPlugin(b, nil)
	for name, w := range map[string]*model.Workload{
		"selector": selecting(&model.Workload{}, map[string]string{"foo": "bar"}),
		"affinity": requiring(labels(in("zone", "a", "b"), require("foo", model.Exists))),
		"rejected": requiring(labels(in("zone", "b"))),
	} {
		s := extpointstest.NewSituation(w, extpointstest.NodeWith(&model.Node{Name: "n", Labels: map[string]string{"foo": "bar", "zone": "a", "host": "n"}}))
		state := s.State()
		p.PreFilter(state, s.Workload)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Filter(state, s.Workload, s.View.NodeInfos[0])
			}
		})
	}
}

func BenchmarkScore(b *testing.B) {
	p := newPlugin(b, nil)
	s := extpointstest.NewSituation(&model.Workload{ID: "w", NodeAffinity: &model.NodeAffinity{Preferred: []model.PreferredNodeTerm{{Weight: 2, NodeTerm: labels(in("zone", "a"))}}}},
		extpointstest.NodeWith(&model.Node{Name: "n", Labels: map[string]string{"zone": "a"}}))
	state := s.State()
	b.ReportAllocs()
	for b.Loop() {
		p.Score(state, s.Workload, s.View.NodeInfos[0])
	}
}
