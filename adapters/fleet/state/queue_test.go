package state_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// A queue is removed when no job waits or runs in it. The default one stays, and its
// settings go.
func TestRemovedQueues(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"night", job.DefaultQueue} {
		w.must(&state.Command{PutQueue: &api.Queue{Name: name, Stopped: true}})
		require.Nil(t, w.submit("ann", job.Spec{Queue: name}).Err)
	}
	require.Equal(t, api.CodeConflict, w.do(&state.Command{RemoveQueue: "night"}).Err.Code)
	require.Equal(t, api.CodeNotFound, w.do(&state.Command{RemoveQueue: "nosuch"}).Err.Code)
	w.must(&state.Command{RemoveQueue: job.DefaultQueue})
	require.False(t, w.View().Queue(job.DefaultQueue).Stopped)
	require.ErrorContains(t, w.do(&state.Command{RemoveQueue: job.DefaultQueue}).Err, "is always there")
}
