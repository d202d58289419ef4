package schedulinggates

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
			if s.Workload.Gates == nil {
				s.Workload.Gates = []string{"review", "quota"}[:r.IntN(3)]
			}
			return s
		},
	})
}

func TestPreEnqueue(t *testing.T) {
	for _, c := range []struct {
		gates []string
		want  string
	}{
		{nil, "Success"},
		{[]string{}, "Success"},
		{[]string{"foo"}, "UnschedulableAndUnresolvable: waiting for scheduling gates: [foo]"},
		{[]string{"foo", "bar"}, "UnschedulableAndUnresolvable: waiting for scheduling gates: [foo bar]"},
	} {
		got := (&SchedulingGates{}).PreEnqueue(&model.Workload{ID: "w", Gates: c.gates})
		if got.String() != c.want {
			t.Errorf("%q: %v, want %v", c.gates, got, c.want)
		}
	}
}

func TestEvents(t *testing.T) {
	hints, err := (&SchedulingGates{}).EventsToRegister()
	want := extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadGatesEliminated}
	if err != nil || len(hints) != 1 || hints[0].Event != want || hints[0].Hint != nil {
		t.Errorf("%v, %v", hints, err)
	}
}

func BenchmarkPreEnqueue(b *testing.B) {
	p, w := &SchedulingGates{}, &model.Workload{ID: "w"}
	b.ReportAllocs()
	for b.Loop() {
		p.PreEnqueue(w)
	}
}
