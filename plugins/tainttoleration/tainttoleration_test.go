package tainttoleration

import (
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New)})
}

func taint(key, value string, effect model.TaintEffect) model.Taint {
	return model.Taint{Key: key, Value: value, Effect: effect}
}

func equal(key, value string, effect model.TaintEffect) model.Toleration {
	return model.Toleration{Key: key, Operator: model.Equal, Value: value, Effect: effect}
}

func exists(key string, effect model.TaintEffect) model.Toleration {
	return model.Toleration{Key: key, Operator: model.Exists, Effect: effect}
}

// above and below compare the taint's value with the limit.
func above(key, limit string, effect model.TaintEffect) model.Toleration {
	return model.Toleration{Key: key, Operator: model.Gt, Value: limit, Effect: effect}
}

func below(key, limit string, effect model.TaintEffect) model.Toleration {
	return model.Toleration{Key: key, Operator: model.Lt, Value: limit, Effect: effect}
}

func TestFilter(t *testing.T) {
	user1 := taint("dedicated", "user1", model.NoSchedule)
	foo := taint("foo", "bar", model.NoSchedule)
	for _, c := range []struct {
		name        string
		tolerations []model.Toleration
		taints      []model.Taint
		accepted    bool
	}{
		{"no taints", []model.Toleration{equal("dedicated", "user1", model.NoSchedule)}, nil, true},
		{"no tolerations", nil, []model.Taint{user1}, false},
		{"tolerated by value", []model.Toleration{equal("dedicated", "user1", model.NoSchedule)}, []model.Taint{user1}, true},
		{"the empty operator compares values", []model.Toleration{{Key: "dedicated", Value: "user1", Effect: model.NoSchedule}}, []model.Taint{user1}, true},
		{"another value", []model.Toleration{equal("dedicated", "user2", model.NoSchedule)}, []model.Taint{user1}, false},
		{"any value", []model.Toleration{exists("foo", model.NoSchedule)}, []model.Taint{foo}, true},
		{"each tolerated by one", []model.Toleration{equal("dedicated", "user2", model.NoSchedule), exists("foo", model.NoSchedule)},
			[]model.Taint{taint("dedicated", "user2", model.NoSchedule), foo}, true},
		{"one of two tolerated", []model.Toleration{exists("foo", "")}, []model.Taint{foo, user1}, false},
		{"another effect", []model.Toleration{equal("foo", "bar", model.PreferNoSchedule)}, []model.Taint{foo}, false},
		{"any effect", []model.Toleration{equal("foo", "bar", "")}, []model.Taint{foo}, true},
		{"everything", []model.Toleration{exists("", "")}, []model.Taint{foo, user1, taint("x", "", model.NoExecute)}, true},
		{"a taint that only asks", nil, []model.Taint{taint("dedicated", "user1", model.PreferNoSchedule)}, true},
		{"a taint that also evicts", nil, []model.Taint{taint("dedicated", "user1", model.NoExecute)}, false},

		{"not above the limit", []model.Toleration{above("level", "950", model.NoSchedule)}, []model.Taint{taint("level", "800", model.NoSchedule)}, false},
		{"above the limit", []model.Toleration{above("level", "750", model.NoSchedule)}, []model.Taint{taint("level", "950", model.NoSchedule)}, true},
		{"not below the limit", []model.Toleration{below("level", "800", model.NoSchedule)}, []model.Taint{taint("level", "950", model.NoSchedule)}, false},
		{"below the limit", []model.Toleration{below("level", "950", model.NoSchedule)}, []model.Taint{taint("level", "800", model.NoSchedule)}, true},
		{"at the limit", []model.Toleration{above("level", "950", ""), below("level", "950", "")}, []model.Taint{taint("level", "950", model.NoSchedule)}, false},
		{"no number", []model.Toleration{above("level", "950", ""), below("level", "950", "")}, []model.Taint{taint("level", "high", model.NoSchedule)}, false},
		{"above a negative limit", []model.Toleration{above("degrees", "-20", model.NoSchedule)}, []model.Taint{taint("degrees", "10", model.NoSchedule)}, true},
		{"zero is below the limit", []model.Toleration{below("latency", "5", model.NoSchedule)}, []model.Taint{taint("latency", "0", model.NoSchedule)}, true},
		{"between two limits of two taints", []model.Toleration{above("level", "900", model.NoSchedule), below("errors", "10", model.NoSchedule)},
			[]model.Taint{taint("level", "950", model.NoSchedule), taint("errors", "5", model.NoSchedule)}, true},
		{"one of two limits held", []model.Toleration{above("level", "900", model.NoSchedule)},
			[]model.Taint{taint("level", "950", model.NoSchedule), taint("errors", "5", model.NoSchedule)}, false},
		{"a limit and a value", []model.Toleration{above("level", "900", model.NoSchedule), equal("zone", "west", model.NoSchedule)},
			[]model.Taint{taint("level", "950", model.NoSchedule), taint("zone", "west", model.NoSchedule)}, true},
		{"a limit for another effect", []model.Toleration{above("level", "900", model.NoExecute)}, []model.Taint{taint("level", "950", model.NoSchedule)}, false},
		{"a limit for a taint that also evicts", []model.Toleration{below("cpu", "80", model.NoExecute)}, []model.Taint{taint("cpu", "75", model.NoExecute)}, true},
	} {
		want := "Success"
		if !c.accepted {
			want = "UnschedulableAndUnresolvable: node(s) had untolerated taint(s)"
		}
		s := extpointstest.NewSituation(&model.Workload{ID: "w", Tolerations: c.tolerations}, extpointstest.NodeWith(&model.Node{Name: "n", Taints: c.taints}))
		if got := (&TaintToleration{}).Filter(s.State(), s.Workload, s.View.NodeInfos[0]); got.String() != want {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}

func TestScore(t *testing.T) {
	prefer := func(keys ...string) []model.Taint {
		var taints []model.Taint
		for _, k := range keys {
			taints = append(taints, taint(k, "v", model.PreferNoSchedule))
		}
		return taints
	}
	for _, c := range []struct {
		name        string
		tolerations []model.Toleration
		nodes       [][]model.Taint
		raw, want   []int64
	}{
		{"the one whose taint is tolerated", []model.Toleration{equal("a", "v", model.PreferNoSchedule)},
			[][]model.Taint{prefer("a"), prefer("b")}, []int64{0, 1}, []int64{100, 0}},
		{"however many are tolerated", []model.Toleration{exists("a", model.PreferNoSchedule), exists("b", "")},
			[][]model.Taint{nil, prefer("a"), prefer("a", "b")}, []int64{0, 0, 0}, []int64{100, 100, 100}},
		{"the fewer the better, rounded down before turning round", []model.Toleration{equal("a", "v", model.PreferNoSchedule)},
			[][]model.Taint{nil, prefer("b"), prefer("b", "c", "d")}, []int64{0, 1, 3}, []int64{100, 67, 0}},
		{"only taints that ask count", nil,
			[][]model.Taint{{taint("a", "v", model.NoSchedule), taint("a", "v", model.NoExecute)}, prefer("b")}, []int64{0, 1}, []int64{100, 0}},
		{"tolerations of other effects do not count", []model.Toleration{exists("a", model.NoSchedule)},
			[][]model.Taint{nil, prefer("a")}, []int64{0, 1}, []int64{100, 0}},
		{"above the limit is tolerated", []model.Toleration{above("level", "950", model.PreferNoSchedule)},
			[][]model.Taint{{taint("level", "800", model.PreferNoSchedule)}, {taint("level", "999", model.PreferNoSchedule)}}, []int64{1, 0}, []int64{0, 100}},
		{"below the limit is tolerated", []model.Toleration{below("level", "800", "")},
			[][]model.Taint{{taint("level", "950", model.PreferNoSchedule)}, {taint("level", "700", model.PreferNoSchedule)}}, []int64{1, 0}, []int64{0, 100}},
		{"a limit for another effect does not count", []model.Toleration{above("level", "1", model.NoSchedule)},
			[][]model.Taint{nil, {taint("level", "2", model.PreferNoSchedule)}}, []int64{0, 1}, []int64{100, 0}},
		{"no taints at all", nil, [][]model.Taint{nil, nil}, []int64{0, 0}, []int64{100, 100}},
	} {
		s := extpointstest.NewSituation(&model.Workload{ID: "w", Tolerations: c.tolerations})
		for _, taints := range c.nodes {
			s.View.NodeInfos = append(s.View.NodeInfos, extpointstest.NodeWith(&model.Node{Taints: taints}))
		}
		p, state := &TaintToleration{}, s.State()
		for _, prepared := range []bool{false, true} {
			if prepared {
				p.PreScore(state, s.Workload, s.View.NodeInfos)
			}
			var scores []int64
			for _, n := range s.View.NodeInfos {
				score, _ := p.Score(state, s.Workload, n)
				scores = append(scores, score)
			}
			raw := slices.Clone(scores)
			p.NormalizeScore(state, s.Workload, s.View.NodeInfos, scores)
			if !slices.Equal(raw, c.raw) || !slices.Equal(scores, c.want) {
				t.Errorf("%s (prepared %v): %v and %v, want %v and %v", c.name, prepared, raw, scores, c.raw, c.want)
			}
		}
	}
}

func TestHints(t *testing.T) {
	w := &model.Workload{ID: "w", Tolerations: []model.Toleration{equal("foo", "bar", ""), above("level", "900", "")}}
	node := func(taints ...model.Taint) *model.Node { return &model.Node{Name: "n", Taints: taints} }
	good, bad := taint("foo", "bar", model.NoSchedule), taint("foo", "other", model.NoSchedule)
	for _, c := range []struct {
		name     string
		old, new *model.Node
		want     extpoints.Hint
	}{
		{"no node", node(), nil, extpoints.HintQueue},
		{"a new node that is tolerated", nil, node(good), extpoints.HintQueue},
		{"a new node that is not", nil, node(bad), extpoints.HintSkip},
		{"a new node without taints", nil, node(), extpoints.HintQueue},
		{"becomes tolerable", node(bad), node(good), extpoints.HintQueue},
		{"becomes intolerable", node(good), node(bad), extpoints.HintSkip},
		{"remains tolerable", node(good), node(), extpoints.HintSkip},
		{"remains intolerable", node(bad), node(bad, good), extpoints.HintSkip},
		{"loses its only taint", node(bad), node(), extpoints.HintQueue},
		{"goes above the limit", node(taint("level", "800", model.NoSchedule)), node(taint("level", "950", model.NoSchedule)), extpoints.HintQueue},
		{"stays below the limit", node(taint("level", "800", model.NoSchedule)), node(taint("level", "900", model.NoSchedule)), extpoints.HintSkip},
		{"stays above the limit", node(taint("level", "901", model.NoSchedule)), node(taint("level", "950", model.NoSchedule)), extpoints.HintSkip},
		{"its value is a number now", node(taint("level", "high", model.NoSchedule)), node(taint("level", "950", model.NoSchedule)), extpoints.HintQueue},
		{"a new node above the limit", nil, node(taint("level", "950", model.NoSchedule)), extpoints.HintQueue},
		{"a new node below the limit", nil, node(taint("level", "800", model.NoSchedule)), extpoints.HintSkip},
	} {
		got, err := afterNodeChange(w, &extpoints.Event{OldNode: c.old, NewNode: c.new})
		if got != c.want || (err != nil) != (c.new == nil) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

// Workloads with another operator or another limit are told apart.
func TestSign(t *testing.T) {
	sign := func(tolerations ...model.Toleration) string {
		fragments, status := (&TaintToleration{}).Sign(&model.Workload{Tolerations: tolerations})
		if !status.IsSuccess() || len(fragments) != 1 {
			t.Fatalf("%v, %v", fragments, status)
		}
		return fragments[0].Value
	}
	seen := map[string]bool{}
	for _, o := range []model.Toleration{equal("level", "1", ""), above("level", "1", ""), below("level", "1", ""), above("level", "2", ""), above("level", "1", model.NoSchedule)} {
		if seen[sign(o)] {
			t.Errorf("%+v is signed like one before", o)
		}
		seen[sign(o)] = true
	}
	if a, b := above("level", "1", ""), below("level", "9", ""); sign(a, b) != sign(b, a) {
		t.Error("the order makes a difference")
	}
}

func BenchmarkFilter(b *testing.B) {
	p := &TaintToleration{}
	for name, taints := range map[string][]model.Taint{
		"none": nil, "tolerated": {taint("a", "v", model.NoSchedule)}, "rejected": {taint("b", "v", model.NoSchedule)},
		"compared": {taint("c", "950", model.NoSchedule)},
	} {
		s := extpointstest.NewSituation(&model.Workload{ID: "w", Tolerations: []model.Toleration{exists("a", ""), above("c", "900", "")}},
			extpointstest.NodeWith(&model.Node{Name: "n", Taints: taints}))
		state := s.State()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Filter(state, s.Workload, s.View.NodeInfos[0])
			}
		})
	}
}

func BenchmarkScore(b *testing.B) {
	p := &TaintToleration{}
	s := extpointstest.NewSituation(&model.Workload{ID: "w"}, extpointstest.NodeWith(&model.Node{Name: "n"}))
	state := s.State()
	p.PreScore(state, s.Workload, s.View.NodeInfos)
	b.ReportAllocs()
	for b.Loop() {
		p.Score(state, s.Workload, s.View.NodeInfos[0])
	}
}
