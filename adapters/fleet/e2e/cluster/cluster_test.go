package cluster_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func TestMain(m *testing.M) {
	code := m.Run()
	cluster.Finish()
	os.Exit(code)
}

// Cuts, pauses and full disks do what they say, and are over when they are undone.
func TestTrouble(t *testing.T) {
	o := cluster.Options{Servers: 1, Agents: cluster.Nodes("n1")}
	if os.Geteuid() == 0 {
		o.Disks = map[string]int64{"n1": 32 << 20}
	}
	c := cluster.Start(t, o)
	c.Ended(c.Submit("--", "true"), job.Completed)

	t.Run("a paused process keeps its number", func(t *testing.T) {
		agent := c.Process("n1")
		before := agent.PID()
		agent.Pause()
		c.NodeIs("n1", api.NodeUnreachable)
		agent.Resume()
		c.NodeIs("n1", api.NodeReady)
		require.Equal(t, before, agent.PID())
	})
	t.Run("a killed process has another one when it is started again", func(t *testing.T) {
		agent := c.Process("n1")
		before := agent.PID()
		agent.Kill()
		require.Zero(t, agent.PID())
		require.NoError(t, agent.Start())
		require.NotEqual(t, before, agent.PID())
		c.Ended(c.Submit("--", "true"), job.Completed)
	})
	t.Run("links are cut", func(t *testing.T) {
		if !c.CanCut() {
			t.Skip("there are no network namespaces")
		}
		for _, trouble := range []struct{ begin, end func() error }{
			{func() error { return c.Cut("n1", "s1") }, func() error { return c.Heal("n1", "s1") }},
			{func() error { return c.Isolate("n1") }, func() error { return c.Rejoin("n1") }},
		} {
			require.NoError(t, trouble.begin())
			c.NodeIs("n1", api.NodeUnreachable)
			require.NoError(t, trouble.end())
			c.NodeIs("n1", api.NodeReady)
		}
		c.Ended(c.Submit("--", "true"), job.Completed)
	})
	t.Run("a disk is full, and has room again", func(t *testing.T) {
		d := c.Disk("n1")
		if d == nil {
			t.Skip("small file systems need root")
		}
		require.NoError(t, d.Fill())
		file := c.Process("n1").Data + "/more"
		require.ErrorContains(t, os.WriteFile(file, []byte(strings.Repeat("x", 1<<16)), 0o600), "no space")
		require.NoError(t, d.Free())
		require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	})
}
