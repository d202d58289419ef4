package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// Where very many tasks wait already, an array has one element in the engine, and all of
// it runs nevertheless.
func TestWindowInACrowd(t *testing.T) {
	array, err := job.ParseArray("0-99")
	require.NoError(t, err)
	const crowd = 50
	in(t, []*api.Registration{node("n1", 4)}, func(w *world) {
		w.make = func(c scheduler.Config) (*scheduler.Controller, error) {
			c.Crowd = crowd
			return scheduler.New(c)
		}
		w.lead()
		submit := func(cores int, array job.Array) job.ID {
			s := job.Spec{Command: []string{"x"}, Array: array, Resources: job.Resources{CPU: job.MilliCPU(cores * 1000)}}
			return w.do(&state.Command{Submit: &state.Submit{Specs: []job.Spec{s.WithDefaults()}, Owner: "ann"}}).Jobs[0]
		}
		for range crowd {
			submit(8, job.Array{}) // fits nowhere
		}
		id := submit(4, array)
		time.Sleep(30 * time.Second)
		sum := 0
		for _, n := range w.leader.Counts() {
			sum += n
		}
		require.Equal(t, crowd+1, sum, "the first runs, the second waits")
		time.Sleep(3 * time.Hour)
		w.mu.Lock()
		defer w.mu.Unlock()
		require.True(t, w.state.View().Job(id).Done())
	})
}

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
