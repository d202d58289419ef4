package state_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// To hold a job of which nothing waits holds nothing, also not later, when it is requeued.
func TestHoldWithoutWaiting(t *testing.T) {
	w := newWorld(t)
	id := w.submit("ann", job.Spec{}).Jobs[0]
	w.must(&state.Command{Cancel: &state.Cancel{Select: state.Select{Job: id}, State: job.Cancelled}})
	for _, admin := range []bool{false, true} {
		r := w.do(&state.Command{Hold: &state.Hold{Select: state.Select{Job: id}, Admin: admin}})
		require.Nil(t, r.Err)
		require.Zero(t, r.Elements)
	}
	w.must(&state.Command{Requeue: &state.Select{Job: id}})
	require.Empty(t, w.View().Job(id).Held)
	require.Equal(t, job.Pending, w.View().Job(id).State())
	require.EqualValues(t, 1, w.do(&state.Command{Hold: &state.Hold{Select: state.Select{Job: id}}}).Elements)
	require.Equal(t, job.ReasonHeldUser, w.View().Job(id).Held)
}
