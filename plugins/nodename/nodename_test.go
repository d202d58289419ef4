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
	const gone = `UnschedulableAndUnresolvable: node "foo" is not there`
	for _, c := range []struct {
		compat       extpoints.Compat
		wanted, node string
		names        []string
		want         string
	}{
		{extpoints.Improved, "", "foo", nil, "Success"},
		{extpoints.Improved, "foo", "foo", []string{"foo"}, "Success"},
		{extpoints.Improved, "foo", "bar", nil, gone},
		{extpoints.KubeScheduler137, "foo", "bar", []string{"foo"}, "Success"},
	} {
		s := extpointstest.NewSituation(&model.Workload{ID: "w", NodeName: c.wanted}, extpointstest.NodeWith(&model.Node{Name: c.node}))
		result, status := (&NodeName{compat: c.compat}).PreFilter(s.State(), s.Workload)
		var names []string
		if result != nil {
			names = slices.Collect(maps.Keys(result.Nodes))
		}
		if status.String() != c.want || !slices.Equal(names, c.names) {
			t.Errorf("%v, %q where there is %q: %v, %v; want %v, %v", c.compat, c.wanted, c.node, names, status, c.names, c.want)
		}
	}
}

// One that waits for its node is woken by that node; to the reference any new one may be it.
func TestEvents(t *testing.T) {
	added := extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}
	for _, c := range []struct {
		compat extpoints.Compat
		node   string
		want   extpoints.Hint
	}{
		{extpoints.Improved, "foo", extpoints.HintQueue},
		{extpoints.Improved, "bar", extpoints.HintSkip},
		{extpoints.KubeScheduler137, "bar", extpoints.HintQueue},
	} {
		hints, err := (&NodeName{compat: c.compat}).EventsToRegister()
		if err != nil || len(hints) != 1 || hints[0].Event != added {
			t.Fatalf("%v, %v", hints, err)
		}
		got := extpoints.HintQueue
		if hints[0].Hint != nil {
			got, err = hints[0].Hint(&model.Workload{NodeName: "foo"}, &extpoints.Event{ClusterEvent: added, NewNode: &model.Node{Name: c.node}})
		}
		if err != nil || got != c.want {
			t.Errorf("%v, node %q: %v, %v", c.compat, c.node, got, err)
		}
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
