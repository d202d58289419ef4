package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// TestCgroups: each task has a control group of its own, which goes with it, even when
// its shim is killed.
func TestCgroups(t *testing.T) {
	n := &node{t: t, server: newServer(), dir: openFolder(t)}
	useCgroups := func(c *Config) { c.Cgroup = "" }
	name := testConfig(t, n.dir, n.server).groupName()
	tree, err := cgroup.Open(cgroup.Options{Name: name})
	if errors.Is(err, cgroup.ErrUnavailable) {
		t.Skip(err)
	}
	require.NoError(t, err)
	// Registered first, so that it comes after the agent's end.
	t.Cleanup(func() { require.ErrorIs(t, tree.Remove(), fs.ErrNotExist, "the agent has removed it") })
	n.start(useCgroups)

	child := filepath.Join(sharedFolder(t), "child")
	hides := "(setsid env -i /bin/sh -c 'trap \"\" TERM HUP; echo $$ >" + child + "; while :; do sleep 1; done' &); "
	o := script(1, hides+"cat /proc/self/cgroup; while [ ! -s "+child+" ]; do sleep 0.01; done")
	r := n.run(o)
	require.Equal(t, job.Completed, r.State, asJSON(t, r))
	require.Contains(t, n.log(o.Task, "stdout"), "/"+name+"/shared/1_0.1.0\n")
	require.False(t, lives(file(t, child)))
	require.NoError(t, os.Remove(child))

	killed := script(2, hides+"exec sleep 600")
	n.server.order(killed)
	n.server.running(t, killed.Task)
	pid := file(t, child)
	require.NoError(t, unix.Kill(parentOf(t, n.status(killed.Task).PID), unix.SIGKILL))
	require.Equal(t, job.NodeFail, n.server.ended(t, killed.Task).State)
	require.False(t, lives(pid), "it has no mark, and is in another session")

	// A group that nobody knows, and what runs in it, goes too.
	n.stop()
	tree, err = cgroup.Open(cgroup.Options{Name: name}) // the agent has removed it
	require.NoError(t, err)
	stranger, err := tree.Create("9_0.1.0", cgroup.Limits{})
	require.NoError(t, err)
	n.start(useCgroups)
	eventually(t, "the stranger's end", func() bool {
		_, err := os.Stat(stranger.Path())
		return errors.Is(err, os.ErrNotExist)
	})
	n.server.stop(taskID(7), api.Stop{State: job.Cancelled})
	require.Equal(t, job.Cancelled, n.server.ended(t, taskID(7)).State)

	machine := n.server.registrations[0].Machine
	require.True(t, machine.Isolation.Cgroup)
	require.Equal(t, tree.Controllers(), machine.Isolation.Controllers)
	for _, c := range tree.Missing() {
		require.Contains(t, machine.Warnings, withoutController[c])
	}
	names, err := tree.Names()
	require.NoError(t, err)
	require.Empty(t, slices.DeleteFunc(names, func(name string) bool { return name == tryName }), "those of tasks")
	eventually(t, "the end of the group that the agent tries", func() bool {
		names, err := tree.Names()
		require.NoError(t, err)
		return len(names) == 0
	})
}
