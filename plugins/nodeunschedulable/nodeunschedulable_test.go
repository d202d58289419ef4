package nodeunschedulable

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New)})
}

var tolerating = []model.Toleration{{Key: TaintKey, Effect: model.NoSchedule}}

func TestFilter(t *testing.T) {
	const rejection = "UnschedulableAndUnresolvable: node(s) were unschedulable"
	for _, c := range []struct {
		name          string
		tolerations   []model.Toleration
		unschedulable bool
		want          string
	}{
		{"unschedulable node", nil, true, rejection},
		{"schedulable node", nil, false, "Success"},
		{"tolerated", tolerating, true, "Success"},
		{"everything tolerated", []model.Toleration{{Operator: model.Exists}}, true, "Success"},
		{"another taint tolerated", []model.Toleration{{Key: "foo", Operator: model.Exists}}, true, rejection},
		{"another effect tolerated", []model.Toleration{{Key: TaintKey, Operator: model.Exists, Effect: model.NoExecute}}, true, rejection},
		{"being unschedulable has no value to compare", []model.Toleration{{Key: TaintKey, Operator: model.Gt, Value: "-1"},
			{Key: TaintKey, Operator: model.Lt, Value: "1"}}, true, rejection},
		{"another value tolerated", []model.Toleration{{Key: TaintKey, Value: "true"}}, true, rejection},
	} {
		s := extpointstest.NewSituation(&model.Workload{ID: "w", Tolerations: c.tolerations},
			extpointstest.NodeWith(&model.Node{Name: "n", Unschedulable: c.unschedulable}))
		if got := (&NodeUnschedulable{}).Filter(s.State(), s.Workload, s.View.NodeInfos[0]); got.String() != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestHints(t *testing.T) {
	node := func(unschedulable bool) *model.Node { return &model.Node{Name: "n", Unschedulable: unschedulable} }
	for _, c := range []struct {
		name     string
		old, new *model.Node
		want     extpoints.Hint
		fails    bool
	}{
		{"no node", node(true), nil, extpoints.HintQueue, true},
		{"a new node that is unschedulable", nil, node(true), extpoints.HintSkip, false},
		{"a new node that is schedulable", nil, node(false), extpoints.HintQueue, false},
		{"remains unschedulable", node(true), node(true), extpoints.HintSkip, false},
		{"remains schedulable", node(false), node(false), extpoints.HintSkip, false},
		{"becomes schedulable", node(true), node(false), extpoints.HintQueue, false},
		{"becomes unschedulable", node(false), node(true), extpoints.HintSkip, false},
	} {
		got, err := afterNodeChange(&model.Workload{ID: "w"}, &extpoints.Event{OldNode: c.old, NewNode: c.new})
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	for _, c := range []struct {
		name string
		new  *extpoints.WorkloadInfo
		want extpoints.Hint
	}{
		{"no workload", nil, extpoints.HintQueue},
		{"tolerates it now", &extpoints.WorkloadInfo{Workload: &model.Workload{Tolerations: tolerating}}, extpoints.HintQueue},
		{"compares numbers", &extpoints.WorkloadInfo{Workload: &model.Workload{Tolerations: []model.Toleration{
			{Key: TaintKey, Operator: model.Lt, Value: "1"}}}}, extpoints.HintSkip},
		{"tolerates something else", &extpoints.WorkloadInfo{Workload: &model.Workload{Tolerations: []model.Toleration{{Key: "foo"}}}}, extpoints.HintSkip},
	} {
		got, err := afterTolerationChange(&model.Workload{ID: "w"}, &extpoints.Event{NewWorkload: c.new})
		if got != c.want || (err != nil) != (c.new == nil) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	p := &NodeUnschedulable{}
	for name, node := range map[string]*model.Node{"accepted": {Name: "n"}, "rejected": {Name: "n", Unschedulable: true}} {
		s := extpointstest.NewSituation(&model.Workload{ID: "w"}, extpointstest.NodeWith(node))
		state := s.State()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Filter(state, s.Workload, s.View.NodeInfos[0])
			}
		})
	}
}
