package simulation

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// mixed is a trace in which models matter.
func mixed() *trace.Trace { return trace.Generate(4, 30, 300) }

func runWith(t *testing.T, policy trace.Policy, change func(*engine.Config)) Result {
	t.Helper()
	s, err := newSimulation(mixed(), policy, 7, change)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.run(context.Background(), policy, 7)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// both calls f for Rollout and for Rollout that learns.
func both(t *testing.T, f func(*testing.T, trace.Policy)) {
	for _, policy := range []trace.Policy{trace.Rollout, trace.Learned} {
		t.Run(string(policy), func(t *testing.T) { f(t, policy) })
	}
}

func TestRolloutIsTheSameWithAnyNumberOfWorkers(t *testing.T) {
	both(t, func(t *testing.T, policy trace.Policy) {
		want := runWith(t, policy, func(c *engine.Config) { c.Workers = 1 })
		for _, workers := range []int{2, 16} {
			got := runWith(t, policy, func(c *engine.Config) { c.Workers = workers })
			if !reflect.DeepEqual(got.Placements, want.Placements) {
				t.Errorf("%d workers place otherwise than one", workers)
			}
		}
	})
}

// A log is replayed by an engine that has seen nothing, whether it begins with the run or
// in the middle.
func TestRolloutIsReplayed(t *testing.T) {
	both(t, func(t *testing.T, policy trace.Policy) {
		for _, from := range []int{0, 60} {
			var cfg engine.Config
			s, err := newSimulation(mixed(), policy, 7, func(c *engine.Config) { cfg = *c })
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			for i, pod := range s.order.Pods {
				if i == from {
					if err := s.engine.StartRecording(at(i), engine.NewRecorder(&log)); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := s.arrive(context.Background(), i, pod); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := engine.Replay(cfg, &log); err != nil {
				t.Errorf("from arrival %d: %v", from, err)
			}
		}
	})
}

// A branch decides what the engine decides, also when it is looked at after the engine has
// gone on.
func TestRolloutDecidesAlikeOnBranches(t *testing.T) { both(t, decidesAlikeOnBranches) }

func decidesAlikeOnBranches(t *testing.T, policy trace.Policy) {
	s, err := newSimulation(mixed(), policy, 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	branches := make([]*engine.Branch, len(s.order.Pods))
	placements := make([]Placement, len(s.order.Pods))
	for i, pod := range s.order.Pods {
		branches[i] = s.engine.Branch()
		if placements[i], err = s.arrive(context.Background(), i, pod); err != nil {
			t.Fatal(err)
		}
	}
	for i := len(branches) - 1; i >= 0; i-- {
		w := workloadOf(i, s.order.Pods[i])
		if err := branches[i].Apply(at(i), engine.Submit(w)); err != nil {
			t.Fatal(err)
		}
		d, err := branches[i].Schedule(at(i), w.ID)
		if err != nil {
			t.Fatal(err)
		}
		node := ""
		if placements[i].Node != Nowhere {
			node = s.trace.Nodes[placements[i].Node].Name
		}
		var devices []int
		for _, share := range d.Binding.Devices {
			devices = append(devices, share.Device)
		}
		slices.Sort(devices)
		if d.Binding.Node != node || !slices.Equal(devices, placements[i].Devices) {
			t.Errorf("arrival %d goes to %q %v on a branch, and went to %q %v", i, d.Binding.Node, devices, node, placements[i].Devices)
		}
	}
}
