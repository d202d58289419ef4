package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// TestEnds is what tasks are said to have ended as.
func TestEnds(t *testing.T) {
	n := newNode(t, nil)
	seconds := func(s float64) job.Duration { return job.Duration(s * float64(time.Second)) }
	grace := seconds(0.3)
	for i, c := range []struct {
		name, script string
		edit         func(*job.Spec)
		state        job.State
		exit         *api.Exit
		message      string
		out          string
	}{
		{name: "success", script: "echo out; echo err >&2", state: job.Completed, exit: &api.Exit{}, out: "out\n"},
		{name: "exit code", script: "exit 3", state: job.Failed, exit: &api.Exit{Code: 3}},
		{name: "signal", script: "kill -SEGV $$", state: job.Failed, exit: &api.Exit{Code: -1, Signal: "SEGV"}},
		{name: "time limit", script: "echo began; exec sleep 600", state: job.Timeout,
			edit: func(s *job.Spec) { s.TimeLimit = seconds(0.3) },
			exit: &api.Exit{Code: -1, Signal: "TERM"}, out: "began\n"},
		{name: "time limit of one that ignores TERM", state: job.Timeout,
			script: "trap '' TERM; while :; do sleep 600; done",
			edit:   func(s *job.Spec) { s.TimeLimit, s.KillGrace = seconds(0.3), &grace },
			exit:   &api.Exit{Code: -1, Signal: "KILL"}},
		{name: "warning of the shell before the time limit, at which it ends by itself", state: job.Failed,
			script: "trap 'echo warned; exit 7' USR2; while :; do sleep 0.05; done",
			edit: func(s *job.Spec) {
				s.TimeLimit, s.Warn = seconds(600), &job.Warning{Signal: "USR2", Before: seconds(599.7), Shell: true}
			},
			exit: &api.Exit{Code: 7}, out: "warned\n"},
		{name: "warning of what the shell has started", state: job.Completed,
			script: `sh -c 'trap "echo warned; exit 7" USR2; while :; do sleep 0.05; done'; echo saved $?`,
			edit: func(s *job.Spec) {
				s.TimeLimit, s.Warn = seconds(600), &job.Warning{Signal: "USR2", Before: seconds(599.7)}
			},
			exit: &api.Exit{}, out: "warned\nsaved 7\n"},
		{name: "warning of a script that has started nothing", state: job.Timeout, message: "B:USR2 is for the script itself",
			script: "exec sleep 600",
			edit: func(s *job.Spec) {
				s.TimeLimit, s.Warn = seconds(0.6), &job.Warning{Signal: "USR2", Before: seconds(0.3)}
			}},
		{name: "TERM at the time limit", state: job.Timeout,
			script: "trap 'echo asked; exit 0' TERM; while :; do sleep 0.05; done",
			edit:   func(s *job.Spec) { s.TimeLimit = seconds(0.3) },
			exit:   &api.Exit{}, out: "asked\n"},
		{name: "NUL in the environment", script: "true", state: job.BootFail, message: "NUL",
			edit: func(s *job.Spec) { s.Env = map[string]string{"A": "b\x00BERTH_RANK=7"} }},
		{name: "too much memory", state: job.OutOfMemory, message: "its limit is",
			script: "x=$(head -c 80000000 /dev/zero | tr '\\0' x); sleep 600",
			edit:   func(s *job.Spec) { s.Resources.Memory = 40 << 20; s.KillGrace = &grace }},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := script(i+1, c.script)
			if c.edit != nil {
				c.edit(&o.Run.Spec)
			}
			r := n.run(o)
			require.Equal(t, c.state, r.State, asJSON(t, r))
			if c.exit != nil {
				require.Equal(t, c.exit, r.Exit)
				require.False(t, r.Started.IsZero())
				require.False(t, r.At.Before(r.Started))
			}
			require.Contains(t, r.Message, c.message)
			if c.out != "" {
				require.Equal(t, c.out, n.log(o.Task, "stdout"))
			}
			require.NoDirExists(t, filepath.Join(n.dir, "work", o.Task.String()))
		})
	}
	require.Equal(t, "err\n", n.log(taskID(1), "stderr"))
}

// TestUsage: what a task used is told, and not what the agent used.
func TestUsage(t *testing.T) {
	large := bytes.Repeat([]byte{1}, 128<<20)
	defer runtime.KeepAlive(large)
	n := newNode(t, nil)
	const most = 60 << 20
	r := n.run(script(1, fmt.Sprintf("head -c %d /dev/zero | tail -c %[1]d | wc -c", most)))
	require.Equal(t, job.Completed, r.State)
	require.Positive(t, r.Usage.CPUSeconds)
	require.Greater(t, int64(r.Usage.PeakMemory), int64(most))
	// The shim's own memory, of some 15 MiB, is not the task's.
	require.Less(t, int64(n.run(script(2, "true")).Usage.PeakMemory), int64(8<<20))
}

// TestEndsAllOfATask: those that ignore TERM, left the session, or were left behind
// by parents that ended, end with the task.
func TestEndsAllOfATask(t *testing.T) {
	dir := sharedFolder(t)
	family := func(name string) string {
		pid := filepath.Join(dir, name)
		return fmt.Sprintf(`
			sh -c 'trap "" TERM; echo $$ >%[1]s.a; while :; do sleep 1; done' &
			setsid sh -c 'trap "" TERM HUP; echo $$ >%[1]s.b; while :; do sleep 1; done' &
			(setsid env -i /bin/sh -c 'trap "" TERM HUP; (echo $$ >%[1]s.c; while :; do sleep 1; done)' &)
			while [ ! -s %[1]s.a ] || [ ! -s %[1]s.b ] || [ ! -s %[1]s.c ]; do sleep 0.01; done
			`, pid)
	}
	n := newNode(t, nil)
	allGone := func(t *testing.T, name string) {
		for _, which := range []string{"a", "b", "c"} {
			pid := file(t, filepath.Join(dir, name+"."+which))
			_, err := os.Stat("/proc/" + pid)
			require.ErrorIs(t, err, os.ErrNotExist, which)
		}
	}
	t.Run("at its own end", func(t *testing.T) {
		require.Equal(t, job.Completed, n.run(script(1, family("end"))).State)
		allGone(t, "end")
	})
	t.Run("at its time limit", func(t *testing.T) {
		o := script(2, family("limit")+"trap '' TERM; while :; do sleep 1; done")
		grace := job.Duration(100 * time.Millisecond)
		o.Run.Spec.TimeLimit, o.Run.Spec.KillGrace = job.Duration(time.Second), &grace
		r := n.run(o)
		require.Equal(t, job.Timeout, r.State)
		require.Equal(t, "KILL", r.Exit.Signal)
		allGone(t, "limit")
	})
	t.Run("when it is cancelled", func(t *testing.T) {
		o := script(3, family("stop")+"sleep 600")
		n.server.order(o)
		for _, which := range []string{"a", "b", "c"} {
			file(t, filepath.Join(dir, "stop."+which))
		}
		n.server.stop(o.Task, api.Stop{State: job.Cancelled, Reason: "by tester"})
		r := n.server.ended(t, o.Task)
		require.Equal(t, job.Cancelled, r.State)
		require.Equal(t, "by tester", r.Message)
		allGone(t, "stop")
	})
}

// TestStop: the signal, the state and the reason are those of the order.
func TestStop(t *testing.T) {
	n := newNode(t, nil)
	o := script(1, "trap 'echo int; exit 5' INT; echo ready; while :; do sleep 0.05; done")
	n.server.order(o)
	n.server.running(t, o.Task)
	eventually(t, "the trap", func() bool { return n.log(o.Task, "stdout") == "ready\n" })
	n.server.stop(o.Task, api.Stop{State: job.Preempted, Reason: "room", Signal: "INT", Grace: job.Duration(time.Minute)})
	r := n.server.ended(t, o.Task)
	require.Equal(t, job.Preempted, r.State)
	require.Equal(t, "room", r.Message)
	require.Equal(t, &api.Exit{Code: 5}, r.Exit)
	require.Equal(t, "ready\nint\n", n.log(o.Task, "stdout"))
}

// TestStopShortensGrace: a second order to stop does not give more time.
func TestStopShortensGrace(t *testing.T) {
	n := newNode(t, func(c *Config) { c.MaxKillGrace = 100 * time.Hour })
	o := script(1, "trap '' TERM; echo ready; while :; do sleep 1; done")
	n.server.order(o)
	eventually(t, "the trap", func() bool {
		_, body, _ := n.get("/v1/tasks/" + o.Task.String() + "/logs/stdout")
		return body == "ready\n"
	})
	n.server.stop(o.Task, api.Stop{State: job.Preempted, Grace: job.Duration(100 * time.Hour)})
	n.server.stop(o.Task, api.Stop{State: job.Cancelled, Grace: 0})
	r := n.server.ended(t, o.Task)
	require.Equal(t, job.Cancelled, r.State)
	require.Equal(t, "KILL", r.Exit.Signal)
}

// TestStopBeforeStart: a task that is stopped before it started never does.
func TestStopBeforeStart(t *testing.T) {
	dir := sharedFolder(t)
	t.Run("its order comes with a stop", func(t *testing.T) {
		n := newNode(t, nil)
		o := script(1, "touch "+filepath.Join(dir, "ran"))
		o.Stop = &api.Stop{State: job.Deadline}
		require.Equal(t, job.Deadline, n.run(o).State)
		// A later order without one changes nothing.
		n.server.order(script(1, "touch "+filepath.Join(dir, "ran")))
		require.Equal(t, job.Completed, n.run(script(2, "true")).State)
		require.NoFileExists(t, filepath.Join(dir, "ran"))
	})
	t.Run("while its prolog runs", func(t *testing.T) {
		n := newNode(t, func(c *Config) {
			c.Prolog.Command = []string{"/bin/sh", "-c", "echo x >" + dir + "/prolog; sleep 600"}
		})
		o := script(1, "touch "+filepath.Join(dir, "ran"))
		n.server.order(o)
		file(t, filepath.Join(dir, "prolog"))
		n.server.stop(o.Task, api.Stop{State: job.Cancelled, Reason: "by tester"})
		r := n.server.ended(t, o.Task)
		require.Equal(t, job.Cancelled, r.State)
		require.Contains(t, r.Message, "before it started")
		require.True(t, r.Started.IsZero())
		require.NoFileExists(t, filepath.Join(dir, "ran"))
	})
}

// TestOrphans: what the servers do not list is ended.
func TestOrphans(t *testing.T) {
	n := newNode(t, nil)
	o := script(1, "exec sleep 600")
	n.server.order(o)
	n.server.running(t, o.Task)
	n.server.unlist(o.Task)
	r := n.server.ended(t, o.Task)
	require.Equal(t, job.Cancelled, r.State)
	require.Contains(t, r.Message, "do not list")
	eventually(t, "the task to be forgotten", func() bool {
		n.server.change(func() { n.server.index++ })
		var known bool
		n.agent.do(t.Context(), func(tb *table) { known = tb.tasks[o.Task] != nil })
		return !known
	})
	require.DirExists(t, filepath.Join(n.dir, "tasks", o.Task.String()), "its logs are kept")
}

// TestDuplicateOrders: however often an order comes, its task runs once; even after it
// was forgotten.
func TestDuplicateOrders(t *testing.T) {
	n := newNode(t, nil)
	ran := filepath.Join(sharedFolder(t), "ran")
	o := script(1, "echo x >>"+ran+"; sleep 0.2")
	n.server.order(o)
	n.server.running(t, o.Task)
	n.server.order(o)
	n.server.ended(t, o.Task)
	n.server.order(o)
	require.Equal(t, job.Completed, n.run(script(2, "true")).State)
	n.server.unlist(o.Task)
	eventually(t, "the task to be forgotten", func() bool {
		n.server.change(func() { n.server.index++ })
		var known bool
		n.agent.do(t.Context(), func(tb *table) { known = tb.tasks[o.Task] != nil })
		return !known
	})
	n.server.change(func() { n.server.reports = map[job.TaskID][]api.Report{} })
	require.Equal(t, job.Completed, n.run(o).State, "its report comes again")
	require.Equal(t, "x", file(t, ran))
}

// TestUserFiles: output goes to the files that the job names, appended.
func TestUserFiles(t *testing.T) {
	n := newNode(t, nil)
	dir := sharedFolder(t)
	o := script(1, "echo out; echo err >&2")
	o.Run.Spec.Output = filepath.Join(dir, "%j-%a-%t-%n.txt")
	o.Run.Spec.Error = o.Run.Spec.Output
	path := filepath.Join(dir, "1-0-0-n1.txt")
	require.NoError(t, os.WriteFile(path, []byte("before\n"), 0o666))
	require.Equal(t, job.Completed, n.run(o).State)
	require.Equal(t, "before\nout\nerr", file(t, path))

	status, body, _ := n.get("/v1/tasks/" + o.Task.String() + "/logs/stdout")
	require.Equal(t, 404, status)
	require.Equal(t, "the job writes its stdout to the file "+path+" on the node\n", body)
	require.NoError(t, os.Rename(path, path+".moved"))
	_, body, _ = n.get("/v1/tasks/" + o.Task.String() + "/logs/stdout")
	require.Equal(t, "stdout of task 1_0.1.0 was written to "+path+", which is no longer on the node\n", body)
	require.NoError(t, os.Rename(path+".moved", path))

	for i, c := range []struct {
		what    string
		make    func(path string) error
		message string
	}{
		{"a symbolic link", func(p string) error { return os.Symlink(path, p) }, "it is a symbolic link"},
		{"a folder", func(p string) error { return os.Mkdir(p, 0o777) }, "is a directory"},
		{"a pipe", mkfifo, "it is neither a file nor /dev/null"},
	} {
		t.Run(c.what, func(t *testing.T) {
			o := script(10+i, "echo out")
			o.Run.Spec.Output = filepath.Join(dir, strings.ReplaceAll(c.what, " ", "-"))
			require.NoError(t, c.make(o.Run.Spec.Output))
			r := n.run(o)
			require.Equal(t, job.Failed, r.State)
			require.Contains(t, r.Message, c.message)
			_, body, _ := n.get("/v1/tasks/" + o.Task.String() + "/logs/stdout")
			require.Equal(t, "task "+o.Task.String()+" never started, so it has written nothing; \"berth job "+o.Task.Job.String()+"\" says why\n", body)
		})
	}
	require.Equal(t, "before\nout\nerr", file(t, path), "nothing went through the link")
}

// TestOneFileForBothStreams: what the task writes to its output and its error output is in
// the file in its order, and no more of an earlier job.
func TestOneFileForBothStreams(t *testing.T) {
	n := newNode(t, nil)
	path := filepath.Join(sharedFolder(t), "out.txt")
	for i, c := range []struct {
		mode job.OpenMode
		want string
	}{{job.OpenTruncate, "1\n2\n3"}, {job.OpenTruncate, "1\n2\n3"}, {job.OpenAppend, "1\n2\n3\n1\n2\n3"}, {"", "1\n2\n3\n1\n2\n3\n1\n2\n3"}} {
		o := script(i+1, "echo 1; echo 2 >&2; echo 3")
		o.Run.Spec.Output, o.Run.Spec.OpenMode = path, c.mode
		o.Run.Spec.Error = path
		require.Equal(t, job.Completed, n.run(o).State)
		require.Equal(t, c.want, file(t, path))
	}
}

// TestUmask: the task, and the file of its output, have the umask of the job.
func TestUmask(t *testing.T) {
	n := newNode(t, nil)
	dir := sharedFolder(t)
	for i, c := range []struct {
		umask string
		mode  os.FileMode
	}{{"", 0o644}, {"0077", 0o600}, {"0002", 0o664}} {
		o := script(i+1, "umask")
		o.Run.Spec.Umask = c.umask
		o.Run.Spec.Output = filepath.Join(dir, o.Task.String())
		require.Equal(t, job.Completed, n.run(o).State)
		info, err := os.Stat(o.Run.Spec.Output)
		require.NoError(t, err)
		require.Equal(t, c.mode, info.Mode().Perm())
		want, err := job.ParseUmask(c.umask)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%04o", want), file(t, o.Run.Spec.Output))
	}
}
