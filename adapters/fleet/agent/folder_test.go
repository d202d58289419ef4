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
	n.run(script(1, "true")) // by now it has written what it writes at its start
	term := filepath.Join(n.dir, "term")
	check := func() { require.True(t, n.agent.do(t.Context(), (*table).checkFolder)) }
	// A folder in the place of a file: nothing can be written there.
	require.NoError(t, os.Remove(term))
	require.NoError(t, os.MkdirAll(filepath.Join(term, "full"), 0o700))
	n.agent.unhealthy.set("data folder", "no space left on device")
	check()
	require.Contains(t, n.agent.unhealthy.String(), "data folder: ")
	require.NoError(t, os.RemoveAll(term))
	check()
	require.Empty(t, n.agent.unhealthy.String())

	// Tasks cannot be started: the node says so at the first one.
	work := filepath.Join(n.dir, "work")
	require.NoError(t, os.Rename(work, work+".moved"))
	require.NoError(t, os.WriteFile(work, nil, 0o600))
	require.Equal(t, job.BootFail, n.run(script(2, "true")).State)
	require.Contains(t, n.agent.unhealthy.String(), "data folder: ")
	check()
	require.Contains(t, n.agent.unhealthy.String(), "data folder: ", "still")
	require.NoError(t, os.Remove(work))
	require.NoError(t, os.Rename(work+".moved", work))
	check()
	require.Empty(t, n.agent.unhealthy.String())
}
