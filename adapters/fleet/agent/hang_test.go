package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/internal/proc"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// A start that hangs in the data folder comes to an end: it is reported as the node's failure, and
// the node complains. When the folder answers again, nothing is left to start, and what
// is reported stays. A FIFO stands for a file that does not answer.
func TestStartThatHangs(t *testing.T) {
	for _, test := range []struct{ name, file string }{
		{"when it is looked at", "report.json"},
		{"when its shim is to be started", "shim.log"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t, func(c *Config) { c.folderLimit = 2 * time.Second })
			n.run(script(4, "true")) // by now it works
			ran := filepath.Join(n.dir, "ran")
			hangs := script(1, "echo ran > "+ran)
			dir := n.agent.folders.task(hangs.Task)
			require.NoError(t, os.MkdirAll(dir, 0o700))
			fifo := filepath.Join(dir, test.file)
			require.NoError(t, unix.Mkfifo(fifo, 0o600))

			report := n.run(hangs)
			require.Equal(t, job.BootFail, report.State)
			require.Equal(t, "data folder: "+errNoAnswer.Error(), report.Message)
			require.Contains(t, n.agent.unhealthy.String(), errNoAnswer.Error())
			require.Equal(t, job.BootFail, n.run(script(2, "true")).State, "nothing else is tried meanwhile")

			answer(t, fifo)
			eventually(t, "that the folder answers", func() bool { return !n.agent.folderCalls.hang() })
			n.agent.checkFolder()
			require.Empty(t, n.agent.unhealthy.String())
			require.Equal(t, job.Completed, n.run(script(3, "true")).State)
			require.NoFileExists(t, ran)
			n.server.mu.Lock()
			defer n.server.mu.Unlock()
			require.Len(t, n.server.reports[hangs.Task], 1)
		})
	}
}

// answer opens the other end of a FIFO, on which somebody waits, and closes it.
func answer(t *testing.T, fifo string) {
	t.Helper()
	moved := fifo + ".moved" // nobody else waits on it from here on
	require.NoError(t, os.Rename(fifo, moved))
	eventually(t, "somebody who waits", func() bool {
		f, err := os.OpenFile(moved, os.O_RDWR|unix.O_NONBLOCK, 0)
		return err == nil && f.Close() == nil
	})
}

// A shim that says nothing is killed, and what it would have started never runs; so is one that
// an agent before this one has started.
func TestShimThatSaysNothing(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("another agent: %t", again), func(t *testing.T) {
			ran := filepath.Join(openFolder(t), "ran")
			n := &node{t: t, server: newServer(), dir: openFolder(t)}
			fifo, late := filepath.Join(n.dir, "fifo"), filepath.Join(n.dir, "late")
			require.NoError(t, unix.Mkfifo(fifo, 0o600))
			begin := func(limit time.Duration) {
				n.start(func(c *Config) {
					require.NoError(t, os.WriteFile(late, fmt.Appendf(nil, "#!/bin/sh\nread x < %s\nexec %s \"$@\"\n", fifo, c.Shim), 0o700))
					c.Shim, c.firstWord = late, limit
				})
			}
			o := script(1, "echo ran > "+ran)
			shim := proc.Leftovers{Mark: "BERTH_TASK_DIR=" + filepath.Join(n.dir, "work", o.Task.String())}
			if again {
				begin(time.Hour)
				n.server.order(o)
				eventually(t, "a shim", func() bool { return len(shim.Find()) > 0 })
				n.stop()
			}
			begin(time.Second)
			report := n.run(o)
			require.Equal(t, job.BootFail, report.State)
			require.Equal(t, "it has not begun for 1s: is a file system away that it needs?", report.Message)
			require.Empty(t, n.agent.unhealthy.String(), "the data folder answers")
			eventually(t, "the end of the shim", func() bool { return len(shim.Find()) == 0 })
			require.NoFileExists(t, ran)
		})
	}
}

// A task whose shim has ended unheard comes to an end, too, if what the shim wrote down cannot be
// read: by the agent that started it, and by the next. The node complains.
func TestStatusThatHangs(t *testing.T) {
	limited := func(c *Config) { c.folderLimit = 2 * time.Second }
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("another agent: %t", again), func(t *testing.T) {
			n := newNode(t, limited)
			o := script(1, "exec sleep 600")
			n.server.order(o)
			n.server.running(t, o.Task)
			pid := n.status(o.Task).PID
			if again {
				n.stop()
			}
			fifo := filepath.Join(n.dir, "tasks", o.Task.String(), "status.json")
			require.NoError(t, os.Remove(fifo))
			require.NoError(t, unix.Mkfifo(fifo, 0o600))
			require.NoError(t, unix.Kill(parentOf(t, pid), unix.SIGKILL))
			if again {
				n.start(limited)
			}
			report := n.server.ended(t, o.Task)
			require.Equal(t, job.NodeFail, report.State)
			require.Equal(t, "data folder: "+errNoAnswer.Error(), report.Message)
			require.Contains(t, n.agent.unhealthy.String(), errNoAnswer.Error())
			eventually(t, "the end of the task", func() bool { return !lives(strconv.Itoa(pid)) })
			answer(t, fifo)
			eventually(t, "that the folder answers", func() bool { return !n.agent.folderCalls.hang() })
		})
	}
}

// A call that comes to its end after it was given up is cleaned up after, and calls are made again.
func TestLateCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bounded{limit: folderLimit}
		answers := make(chan struct{})
		var cleaned atomic.Int32
		late := func() { cleaned.Add(1) }
		require.NoError(t, b.do(func() error { return nil }, late))
		begin := time.Now()
		require.ErrorIs(t, b.do(func() error { <-answers; return nil }, late), errNoAnswer)
		require.Equal(t, folderLimit, time.Since(begin))
		require.ErrorIs(t, b.do(func() error { panic("not called") }, late), errNoAnswer)
		require.Zero(t, cleaned.Load())
		close(answers)
		synctest.Wait()
		require.EqualValues(t, 1, cleaned.Load())
		require.NoError(t, b.do(func() error { return nil }, late))
	})
}

// A shim that comes after its start was given up is killed, with what it has started.
func TestLateShim(t *testing.T) {
	n := newNode(t, nil)
	n.run(script(2, "true")) // by now it works
	ran := filepath.Join(n.dir, "ran")
	o := script(1, "echo ran > "+ran+"; sleep 1000")
	r := &runner{agent: n.agent, id: o.Task, order: &o}
	require.NoError(t, r.prepare(t.Context()))
	shim, err := n.agent.forkShim(r.task, r.dir(), &atomic.Bool{})
	require.NoError(t, err)
	file(t, ran)
	r.tooLate(shim)
	require.Empty(t, r.leftovers().Find())
}
