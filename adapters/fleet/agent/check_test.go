package agent

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
	"github.com/berth-project/berth/adapters/fleet/job"
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

// A data folder that hangs makes the node complain, and holds up neither the owner of the
// table nor the end of the agent. Not more than one try hangs with it.
func TestComplaintOfAFolderThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := New(testConfig(t, t.TempDir(), newServer()))
		require.NoError(t, err)
		var tries atomic.Int32
		hangs, answers := make(chan struct{}), make(chan struct{})
		a.tryFolder = func() error {
			tries.Add(1)
			select {
			case <-hangs:
				<-answers
			default:
			}
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		go (&table{agent: a, ctx: ctx, tasks: map[job.TaskID]*entry{}}).own(ctx)
		go a.watchSelf(ctx)
		synctest.Wait()
		require.Empty(t, a.unhealthy.String())

		close(hangs)
		time.Sleep(checkEvery + folderLimit + time.Second)
		require.Equal(t, "data folder: it does not answer: what takes milliseconds has not ended after 8s; is its file system away?", a.unhealthy.String())
		require.True(t, a.do(ctx, func(*table) {}), "the owner of the table works")
		begin := time.Now()
		a.noteFolder()
		require.Equal(t, begin, time.Now(), "what is known to hang is not waited for again")
		time.Sleep(10 * checkEvery)
		require.EqualValues(t, 2, tries.Load())
		require.NotEmpty(t, a.unhealthy.String())

		close(answers)
		time.Sleep(checkEvery)
		require.Empty(t, a.unhealthy.String())
		cancel()
	})
}

// An order whose task's folder does not answer holds up no other.
func TestOrderThatHangs(t *testing.T) {
	n := newNode(t, nil)
	n.run(script(3, "true")) // by now it has read all folders
	hangs, other := script(1, "true"), script(2, "true")
	dir := n.agent.cfg.DataDir + "/tasks/" + hangs.Task.String()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	fifo := dir + "/report.json" // who opens it to read waits for somebody who writes
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	n.server.order(hangs)
	require.Equal(t, job.Completed, n.run(other).State)

	require.NoError(t, os.Rename(fifo, fifo+".moved"))
	eventually(t, "somebody who reads", func() bool {
		f, err := os.OpenFile(fifo+".moved", os.O_WRONLY|unix.O_NONBLOCK, 0)
		return err == nil && f.Close() == nil
	})
	require.Equal(t, job.Completed, n.server.ended(t, hangs.Task).State, "it is looked at again")
}
