package agent

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// TestRestoredOrders: what servers that were restored from a backup order is started by
// none who may have forgotten that it had run; what runs goes on.
func TestRestoredOrders(t *testing.T) {
	n := newNode(t, nil)
	ran := filepath.Join(sharedFolder(t), "ran")
	runs := script(1, "echo x >>"+ran+"; exec sleep 600")
	n.server.order(runs)
	n.server.running(t, runs.Task)
	file(t, ran)

	runs.Restored = true
	n.server.order(runs)
	forgotten := script(2, "echo x >>"+ran)
	forgotten.Restored = true
	r := n.run(forgotten)
	require.Equal(t, job.NodeFail, r.State, "it is tried again, as a new attempt")
	require.Contains(t, r.Message, "restored from a backup")
	require.True(t, r.Started.IsZero())

	require.Equal(t, job.Completed, n.run(script(3, "true")).State, "what is new is started")
	require.True(t, lives(strconv.Itoa(n.status(runs.Task).PID)))
	require.Equal(t, "x", file(t, ran))
}
