package state_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

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
