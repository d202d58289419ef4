package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// However many elements a job has, and however many tasks each, the engine has no more
// than a window of its tasks, or one element.
func TestWindowIsOfTasks(t *testing.T) {
	array, err := job.ParseArray("0-999")
	require.NoError(t, err)
	for tasks, want := range map[int32]int{1: 512, 100: 500, 600: 600} {
		in(t, []*api.Registration{node("n1", 4)}, func(w *world) {
			s := job.Spec{Command: []string{"x"}, Tasks: tasks, Array: array, Resources: job.Resources{CPU: 8000}}
			w.do(&state.Command{Submit: &state.Submit{Specs: []job.Spec{s.WithDefaults()}, Owner: "ann"}})
			time.Sleep(time.Minute)
			sum := 0
			for _, n := range w.leader.Counts() {
				sum += n
			}
			require.Equal(t, want, sum, "elements of %d tasks", tasks)
		})
	}
}
