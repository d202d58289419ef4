package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// A node complains of a data folder that cannot be written to for as long as that is
// so, and not longer.
func TestComplaintOfTheDataFolderEnds(t *testing.T) {
	n := newNode(t, nil)
	n.run(script(1, "true"))
	tasks, check := filepath.Join(n.dir, "tasks"), n.agent.checkFolder
	require.NoError(t, os.Rename(tasks, tasks+".moved"))
	n.agent.unhealthy.set("data folder", "no space left on device")
	check()
	require.Contains(t, n.agent.unhealthy.String(), "data folder: ")
	require.NoError(t, os.Rename(tasks+".moved", tasks))
	check()
	require.Empty(t, n.agent.unhealthy.String())

	// Tasks cannot be started: the node says so at the first one.
	work := filepath.Join(n.dir, "work")
	require.NoError(t, os.Rename(work, work+".moved"))
	require.NoError(t, os.WriteFile(work, nil, 0o600))
	require.Equal(t, job.BootFail, n.run(script(2, "true")).State)
	require.Contains(t, n.agent.unhealthy.String(), "data folder: ")
	for range 2 {
		check()
		require.Equal(t, "data folder: "+work+": not a directory", n.agent.unhealthy.String(), "the same each time")
	}
	require.NoError(t, os.Remove(work))
	require.NoError(t, os.Rename(work+".moved", work))
	check()
	require.Empty(t, n.agent.unhealthy.String())
}
