package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// All tasks of a gang have a node, and the leader was told so of the first ones only. The room of the
// others is not free: what comes next waits for room, and is not placed there in vain.
func TestRoomOfTasksIsTakenBeforeTheLeaderIsTold(t *testing.T) {
	in(t, []*api.Registration{node("a", 1), node("b", 1), node("c", 1)}, func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: time.Minute, ends: job.Completed} }
		w.late = func(ch state.Changed) bool { return len(ch.Tasks) > 0 }
		gang := w.submit("tasks: 3")[0]
		w.pass(time.Second)
		require.Len(t, w.where(), 3)
		w.tell(1)
		w.pass(time.Second)
		next := w.submit("name: next")[0]
		w.pass(time.Second)
		require.Equal(t, "0 of 3 nodes fit: not enough cpu free (3)", w.message(next))
		w.late = nil
		w.tell(len(w.kept))
		w.pass(30 * time.Second)
		require.Equal(t, "RUNNING PENDING", w.states(gang, next))
		w.pass(time.Minute)
		require.Equal(t, "COMPLETED RUNNING", w.states(gang, next))
	})
}
