package nodename

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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
			s.Workload.NodeName = fmt.Sprintf("n%d", r.IntN(8))
			return s
		},
	})
}

func TestFilter(t *testing.T) {
	for _, c := range []struct{ wanted, node, want string }{
		{"", "foo", "Success"},
		{"foo", "foo", "Success"},
		{"bar", "foo", "UnschedulableAndUnresolvable: node(s) didn't match the requested node name"},
	} {
		s := extpointstest.NewSituation(&model.Workload{ID: "w", NodeName: c.wanted}, extpointstest.NodeWith(&model.Node{Name: c.node}))
		got := (&NodeName{}).Filter(s.State(), s.Workload, s.View.NodeInfos[0])
		if got.String() != c.want {
			t.Errorf("%q on %q: %v, want %v", c.wanted, c.node, got, c.want)
		}
	}
}

func TestPreFilter(t *testing.T) {
	p := &NodeName{}
	s := extpointstest.NewSituation(&model.Workload{ID: "w"})
	if result, status := p.PreFilter(s.State(), s.Workload); result != nil || status != nil {
		t.Errorf("without a name: %v, %v", result, status)
	}
	s.Workload.NodeName = "foo"
	result, status := p.PreFilter(s.State(), s.Workload)
	if names := slices.Collect(maps.Keys(result.Nodes)); status != nil || !slices.Equal(names, []string{"foo"}) {
		t.Errorf("with a name: %v, %v", names, status)
	}
}

func TestEvents(t *testing.T) {
	hints, err := (&NodeName{}).EventsToRegister()
	want := extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}
	if err != nil || len(hints) != 1 || hints[0].Event != want || hints[0].Hint != nil {
		t.Errorf("%v, %v", hints, err)
	}
}

func BenchmarkFilter(b *testing.B) {
	p := &NodeName{}
	for _, name := range []string{"foo", "bar"} {
		s := extpointstest.NewSituation(&model.Workload{ID: "w", NodeName: name}, extpointstest.NodeWith(&model.Node{Name: "foo"}))
		state := s.State()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Filter(state, s.Workload, s.View.NodeInfos[0])
			}
		})
	}
}
