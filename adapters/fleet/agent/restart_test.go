package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/shim"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// zombie is the line of those in /proc/PID/status.
var zombie = regexp.MustCompile(`(?m)^State:\s+Z`)

func mkfifo(path string) error { return unix.Mkfifo(path, 0o666) }

// status is what the shim of a task wrote down.
func (n *node) status(id job.TaskID) shim.Status {
	n.t.Helper()
	s, err := shim.ReadStatus(filepath.Join(n.dir, "tasks", id.String()))
	require.NoError(n.t, err)
	return s
}

// parentOf is the shim of a task's first process.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	line, err := exec.Command("ps", "-o", "ppid=", "-p", strconv.Itoa(pid)).Output()
	require.NoError(t, err)
	parent, err := strconv.Atoi(strings.TrimSpace(string(line)))
	require.NoError(t, err)
	return parent
}

// TestRestart: tasks go on while there is no agent, and the next one finds them, and
// what happened to them.
func TestRestart(t *testing.T) {
	n := newNode(t, nil)
	gate := filepath.Join(sharedFolder(t), "gate")
	waits := "while [ ! -e " + gate + "$1 ]; do sleep 0.02; done; echo done; exit 4"
	before, after, stopped := script(1, waits), script(2, waits), script(3, "exec sleep 600")
	after.Run.Spec.Args = []string{"2"}
	for _, o := range []api.Order{before, after, stopped} {
		n.server.order(o)
		n.server.running(t, o.Task)
	}
	pid := n.status(after.Task).PID
	n.stop()

	// One ends while there is no agent.
	require.NoError(t, os.WriteFile(gate, nil, 0o666))
	eventually(t, "the end of the task", func() bool { return n.status(before.Task).State == job.Failed })

	n.start(nil)
	r := n.server.ended(t, before.Task)
	require.Equal(t, job.Failed, r.State)
	require.Equal(t, &api.Exit{Code: 4}, r.Exit)
	n.server.stop(stopped.Task, api.Stop{State: job.Cancelled})
	require.Equal(t, job.Cancelled, n.server.ended(t, stopped.Task).State)
	require.Equal(t, pid, n.status(after.Task).PID, "it is the same process")
	require.NoError(t, os.WriteFile(gate+"2", nil, 0o666))
	require.Equal(t, &api.Exit{Code: 4}, n.server.ended(t, after.Task).Exit)
	require.Equal(t, "done\n", n.log(after.Task, "stdout"))
}

// TestReportsSurvive: what servers could not be told is told by the next agent, and
// what they were told is not forgotten while they list the task.
func TestReportsSurvive(t *testing.T) {
	n := newNode(t, nil)
	ran := filepath.Join(sharedFolder(t), "ran")
	o := script(1, "echo x >>"+ran)
	n.server.order(o)
	file(t, ran)
	n.server.change(func() { n.server.down, n.server.reports = true, map[job.TaskID][]api.Report{} })
	eventually(t, "the report on disk", func() bool {
		_, err := os.Stat(filepath.Join(n.dir, "tasks", o.Task.String(), "report.json"))
		return err == nil
	})
	n.stop()
	n.server.change(func() { n.server.down, n.server.reports = false, map[job.TaskID][]api.Report{} })
	n.start(nil)
	require.Equal(t, job.Completed, n.server.ended(t, o.Task).State)
	eventually(t, "the note that it was taken", func() bool {
		_, err := os.Stat(filepath.Join(n.dir, "tasks", o.Task.String(), "taken"))
		return err == nil
	})
	n.stop()

	// The servers list it and send its order, as to any new agent; what they may have
	// lost, by being restored from a backup, they are told again.
	n.server.change(func() { n.server.reports = map[job.TaskID][]api.Report{} })
	n.start(nil)
	require.Equal(t, job.Completed, n.run(script(2, "true")).State)
	require.Equal(t, job.Completed, n.server.ended(t, o.Task).State)
	require.Equal(t, "x", file(t, ran), "it ran once")
}

// TestShimKilled: the task dies with its shim, with all that it had started.
func TestShimKilled(t *testing.T) {
	for _, agentLives := range []bool{true, false} {
		t.Run(map[bool]string{true: "with an agent", false: "without"}[agentLives], func(t *testing.T) {
			n := newNode(t, nil)
			child := filepath.Join(sharedFolder(t), "child")
			o := script(1, "setsid sh -c 'trap \"\" TERM HUP; echo $$ >"+child+"; while :; do sleep 1; done' & exec sleep 600")
			n.server.order(o)
			n.server.running(t, o.Task)
			pid := file(t, child)
			first := n.status(o.Task).PID
			supervisor := parentOf(t, first)
			if !agentLives {
				n.stop()
			}
			require.NoError(t, syscall.Kill(supervisor, syscall.SIGKILL))
			if !agentLives {
				n.start(nil)
			}
			r := n.server.ended(t, o.Task)
			require.Equal(t, job.NodeFail, r.State)
			require.Equal(t, "its shim was killed", r.Message)
			require.False(t, r.Started.IsZero())
			for _, p := range []string{pid, strconv.Itoa(first)} {
				eventually(t, "the end of process "+p, func() bool { return !lives(p) })
			}
		})
	}
}

// lives: zombies do not; who waits for them is not the agent's business.
func lives(pid string) bool {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	return err == nil && !zombie.Match(text)
}

// TestShimThatNeverCame: where a start was written down and there is no shim, the task
// is not started again.
func TestShimThatNeverCame(t *testing.T) {
	n := newNode(t, nil)
	n.stop()
	ran := filepath.Join(sharedFolder(t), "ran")
	o := script(1, "touch "+ran)
	folder := filepath.Join(n.dir, "tasks", o.Task.String())
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, shim.WriteTask(folder, shim.Task{ID: o.Task, Argv: []string{"touch", ran}}))
	n.server.order(o)
	n.start(nil)
	r := n.server.ended(t, o.Task)
	require.Equal(t, job.BootFail, r.State)
	require.Contains(t, r.Message, "its shim did not come")
	require.NoFileExists(t, ran)
}

// TestAgentKilledBeforeTheMark: a folder without an order is of a start that did not
// come to be; its order starts it.
func TestAgentKilledBeforeTheMark(t *testing.T) {
	n := newNode(t, nil)
	n.stop()
	folder := filepath.Join(n.dir, "tasks", taskID(1).String())
	require.NoError(t, os.Mkdir(folder, 0o700))
	socket, err := shim.Listen(folder)
	require.NoError(t, err)
	require.NoError(t, socket.Close())
	require.NoError(t, os.MkdirAll(filepath.Join(n.dir, "work", taskID(1).String(), "dir"), 0o700))
	n.start(nil)
	require.Equal(t, job.Completed, n.run(script(1, "true")).State)
}

// TestStaleTerm: orders of a leader that was replaced are refused, by the next agent
// too.
func TestStaleTerm(t *testing.T) {
	n := newNode(t, nil)
	require.Equal(t, job.Completed, n.run(script(1, "true")).State)
	n.server.change(func() { n.server.term = 7; n.server.index++ })
	require.Equal(t, job.Completed, n.run(script(2, "true")).State)

	ran := filepath.Join(sharedFolder(t), "ran")
	n.server.change(func() { n.server.term = 6 })
	n.server.order(script(3, "touch "+ran))
	polls := len(n.server.polls)
	n.server.until(t, "polls that are refused", func() bool { return len(n.server.polls) > polls+2 })
	n.stop()
	n.start(nil)
	n.server.until(t, "registrations that are refused", func() bool { return len(n.server.registrations) > 3 })
	require.NoFileExists(t, ran)
	require.Equal(t, uint64(7), n.server.polls[len(n.server.polls)-1].Term)

	n.server.change(func() { n.server.term = 8; n.server.index++ })
	require.Equal(t, job.Completed, n.server.ended(t, taskID(3)).State)
}

// TestUnregistered: an agent that the servers do not know tells them again.
func TestUnregistered(t *testing.T) {
	n := newNode(t, nil)
	require.Equal(t, job.Completed, n.run(script(1, "true")).State)
	n.server.change(func() { n.server.known = false })
	n.server.until(t, "a second registration", func() bool { return len(n.server.registrations) == 2 })
	require.Equal(t, job.Completed, n.run(script(2, "true")).State)
	reg := n.server.registrations[0]
	require.Equal(t, "n1", reg.Node)
	require.NotEmpty(t, reg.Boot)
	require.Positive(t, reg.Machine.CPU)
	require.NotEmpty(t, reg.Machine.Warnings, "it says that there are no control groups")
}

// TestOneAgentAFolder: a second one refuses to work.
func TestOneAgentAFolder(t *testing.T) {
	n := newNode(t, nil)
	require.Equal(t, job.Completed, n.run(script(1, "true")).State)
	second, err := New(testConfig(t, n.dir, n.server))
	require.NoError(t, err)
	require.ErrorIs(t, second.Run(t.Context()), ErrInUse)
}

// TestShimIsToldToEnd: at the shutdown of a node everything gets TERM; tasks then have
// their grace, and are said to have lost their node.
func TestShimIsToldToEnd(t *testing.T) {
	n := newNode(t, nil)
	o := script(1, "trap 'echo asked; exit 0' TERM; echo ready; while :; do sleep 0.05; done")
	n.server.order(o)
	n.server.running(t, o.Task)
	eventually(t, "the trap", func() bool { return n.log(o.Task, "stdout") == "ready\n" })
	require.NoError(t, syscall.Kill(parentOf(t, n.status(o.Task).PID), syscall.SIGTERM))
	r := n.server.ended(t, o.Task)
	require.Equal(t, job.NodeFail, r.State)
	require.Equal(t, "ready\nasked\n", n.log(o.Task, "stdout"))
	require.WithinDuration(t, time.Now(), r.At, patience)
}
