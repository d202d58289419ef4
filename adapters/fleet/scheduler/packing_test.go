package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/plugins/devicepacking"
)

// A task without GPUs fills the smaller node, unless the fleet asks for Rollout: then the CPU
// beside the GPU is left for a task that needs both.
func TestPacking(t *testing.T) {
	for policy, want := range map[devicepacking.Policy]string{"": "PENDING", devicepacking.BestFit: "PENDING", devicepacking.Rollout: "RUNNING"} {
		in(t, []*api.Registration{gpus(node("a", 8), "x"), node("b", 64)}, func(w *world) {
			w.runs = func(*state.Task) run { return run{lasts: time.Hour, ends: job.Completed} }
			w.make = func(c scheduler.Config) (*scheduler.Controller, error) {
				c.Packing = policy
				return scheduler.New(c)
			}
			w.lead()
			w.submit("resources: {cpu: 8}\ntimeLimit: 1h")
			w.pass(5 * time.Second)
			both := w.submit("resources: {cpu: 2, gpus: {count: 1}}\ntimeLimit: 1h")
			w.pass(5 * time.Second)
			require.Equal(t, want, w.states(both...), "policy %q", policy)
		})
	}
}

func TestPackingOf(t *testing.T) {
	for name, want := range map[string]devicepacking.Policy{"": devicepacking.BestFit, "BestFit": devicepacking.BestFit, "Rollout": devicepacking.Rollout} {
		got, err := scheduler.PackingOf(name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, name := range []string{"FGD", "rollout", "x"} { // FGD needs a list of typical jobs
		_, err := scheduler.PackingOf(name)
		require.ErrorContains(t, err, "is none of the ways to pack GPUs, which are BestFit and Rollout", name)
	}
}
