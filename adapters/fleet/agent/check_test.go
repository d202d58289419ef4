package agent

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
)

// A node complains of a directory service that knows none of the accounts any more that
// tasks ran as, and not of one account that was deleted.
func TestComplaintOfAccounts(t *testing.T) {
	bin := t.TempDir()
	directory := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(bin, "getent"), []byte("#!/bin/sh\n"+text), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(bin, "id"), []byte("#!/bin/sh\necho 70001\n"), 0o755))
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	knows := func(name string) string {
		return "[ $3 = " + name + " ] && echo " + name + ":x:70001:70001::/:/bin/sh && exit 0\nexit 2\n"
	}
	var a accounts
	now := time.Now()
	require.NoError(t, a.try(t.Context(), now), "there is nothing to look for")
	for _, name := range []string{"berth-ann", "berth-bob"} {
		directory(knows(name))
		_, err := lookupAccount(t.Context(), name)
		require.NoError(t, err)
		a.note(name, now)
	}
	require.NoError(t, a.try(t.Context(), now), "bob is there")
	for text, says := range map[string]string{
		"exit 2": "tasks ran here as berth-bob, and now: there is no such account on this node; is the directory service away?",
		"exit 1": "tasks ran here as berth-bob, and now: looking for the account berth-bob: getent: exit status 1; is the directory service away?",
	} {
		directory(text)
		require.EqualError(t, a.try(t.Context(), now.Add(time.Minute)), says)
	}
	require.NoError(t, a.try(t.Context(), now.Add(2*time.Hour)), "they were deleted, and are forgotten")
}

// A node complains where no control groups can be made.
func TestComplaintOfControlGroups(t *testing.T) {
	n := &node{t: t, server: newServer(), dir: openFolder(t)}
	tree, err := cgroup.Open(cgroup.Options{Name: testConfig(t, n.dir, n.server).groupName()})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = tree.Remove() })
	n.start(func(c *Config) { c.Cgroup = "" })
	eventually(t, "the first check", func() bool { return n.agent.do(t.Context(), func(*table) {}) })
	group, err := tree.Create("7_0.1.0", cgroup.Limits{})
	require.NoError(t, err)
	limit := filepath.Join(filepath.Dir(group.Path()), "cgroup.max.descendants")
	require.NoError(t, os.WriteFile(limit, []byte("0"), 0o644))
	n.agent.checkSelf(t.Context())
	require.Contains(t, n.agent.unhealthy.String(), "control groups: ")
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	n.agent.checkSelf(stopped)
	require.NotEmpty(t, n.agent.unhealthy.String(), "an agent that ends finds nothing out")
	require.NoError(t, os.WriteFile(limit, []byte("max"), 0o644))
	n.agent.checkSelf(t.Context())
	require.Empty(t, n.agent.unhealthy.String())
	require.NoError(t, tree.Clear(t.Context(), "7_0.1.0"))
}
