package state_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// A task has ended when it did, not when servers hear of it: they may have been away. A
// node's clock that is wrong is not believed beyond what can be.
func TestTimeOfTheEnd(t *testing.T) {
	w := newWorld(t)
	start := w.now
	end := func(i int32) job.TaskID { return job.TaskID{Job: 1, Element: i, Attempt: 1} }
	array, err := job.ParseArray("0-3")
	require.NoError(t, err)
	w.submit("ann", job.Spec{Array: array})
	for i := range int32(4) {
		w.must(&state.Command{Place: &state.Place{Task: end(i), Node: "n0"}})
		w.must(&state.Command{Report: &state.Report{Node: "n0", Tasks: []api.Report{{Task: end(i), State: job.Running, At: start}}}})
	}
	for i, c := range []struct{ at, want time.Duration }{
		{10 * time.Minute, 10 * time.Minute},
		{5 * time.Minute, 5 * time.Minute},
		{-time.Hour, 0},
		{2 * time.Hour, time.Hour}, // when it is heard of
	} {
		w.now = start.Add(time.Hour)
		said := api.Report{Task: end(int32(i)), State: job.Completed, Started: start, At: start.Add(c.at)}
		w.must(&state.Command{Report: &state.Report{Node: "n0", Tasks: []api.Report{said}}})
		records := slices.Collect(w.View().RecordsOfElement(1, int32(i)))
		require.Equal(t, start.Add(c.want), records[0].Ended, c.at)
	}
	require.Equal(t, start.Add(time.Hour), w.View().Job(1).Ended, "that of the last")
	one := w.submit("ann", job.Spec{}).Jobs[0]
	w.must(&state.Command{Cancel: &state.Cancel{Select: state.Select{Job: one}, State: job.Cancelled}})
	require.Equal(t, w.now, w.View().Job(one).Ended)
}

// What an agent notes of a task is kept where the task has completed, too.
func TestNotesOfCompletedTasks(t *testing.T) {
	w := newWorld(t)
	id := job.TaskID{Job: w.submit("ann", job.Spec{}).Jobs[0], Attempt: 1}
	w.must(&state.Command{Place: &state.Place{Task: id, Node: "n0"}})
	const note = "7 bytes of its output could not be kept"
	w.must(&state.Command{Report: &state.Report{Node: "n0", Tasks: []api.Report{{Task: id, State: job.Completed, Message: note}}}})
	records := slices.Collect(w.View().RecordsOf(id.Job))
	require.Len(t, records, 1)
	require.Equal(t, job.Completed, records[0].Outcome.State)
	require.Equal(t, note, records[0].Outcome.Message)
}

// Of a gang that has completed there is a note, too, whichever of its tasks it is about and
// whichever ends last.
func TestNotesOfGangs(t *testing.T) {
	const note = "the first 7 bytes of stdout were dropped"
	for rank := range int32(3) {
		w := newWorld(t)
		id := job.TaskID{Job: w.submit("ann", job.Spec{Tasks: 3}).Jobs[0], Attempt: 1}
		for id.Rank = range 3 {
			w.must(&state.Command{Place: &state.Place{Task: id, Node: "n0"}})
		}
		for id.Rank = range 3 {
			said := api.Report{Task: id, State: job.Completed}
			if id.Rank == rank {
				said.Message = note
			}
			w.must(&state.Command{Report: &state.Report{Node: "n0", Tasks: []api.Report{said}}})
		}
		r := w.View().LastRecord(id.Job, 0)
		require.Equal(t, job.Completed, r.Outcome.State)
		require.Equal(t, fmt.Sprintf("task %d of the gang: %s", rank, note), r.Outcome.Message)
	}
}
