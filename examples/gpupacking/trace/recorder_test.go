package trace_test

import (
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// Two half GPUs arrive at a cluster of one GPU; the second is dropped.
func TestRecorder(t *testing.T) {
	made := pods(t, map[trace.Shape]int{half: 1, pair: 1}) // each half of the typical pods
	recorder := trace.NewRecorder(made)
	pod := &trace.Pod{Shape: half}
	recorder.Placed(pod, 0, 4000, []int64{500})
	recorder.Dropped(pod)

	run := recorder.Run(trace.FGD, 42)
	if run.Policy != trace.FGD || run.Seed != 42 || run.Pods != 2 {
		t.Errorf("got the run %s %d with %d pods", run.Policy, run.Seed, run.Pods)
	}
	for _, arrived := range []int{50, 100} {
		if got := run.Allocation[arrived]; got != 50 {
			t.Errorf("allocation at %d %% is %v", arrived, got)
		}
		// The 500 idle milli are of use to the half pod and not to the pair.
		if got := run.Fragmentation[arrived]; got != 50 {
			t.Errorf("fragmentation at %d %% is %v", arrived, got)
		}
	}
}
