package agent

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/internal/tasklog"
	"github.com/berth-project/berth/adapters/fleet/agent/shim"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func itoa(n int) string { return strconv.Itoa(n) }

func uidOf(info os.FileInfo) string {
	return strconv.Itoa(int(info.Sys().(*syscall.Stat_t).Uid))
}

// TestLogs: offsets, limits, and what rotation leaves.
func TestLogs(t *testing.T) {
	n := newNode(t, func(c *Config) { c.Logs = LogLimits{FileBytes: 1000, Files: 3} })
	o := script(1, "i=0; while [ $i -lt 1000 ]; do printf '%09d\\n' $i; i=$((i+1)); done")
	r := n.run(o)
	require.Equal(t, job.Completed, r.State)
	require.Equal(t, "the first 7000 bytes of stdout were dropped: the node keeps at most 3K of it", r.Message)
	var all strings.Builder
	for i := range 1000 {
		all.WriteString(strings.Repeat("0", 9-len(itoa(i))) + itoa(i) + "\n")
	}
	base := "/v1/tasks/" + o.Task.String() + "/logs/stdout"
	for _, c := range []struct {
		query    string
		from, to int
	}{
		{"", 7000, 10000},
		{"?offset=0", 7000, 10000},
		{"?offset=8005&limit=20", 8005, 8025},
		{"?offset=7995&limit=1010", 7995, 9005},
		{"?offset=-25", 9975, 10000},
		{"?offset=-99999", 7000, 10000},
		{"?offset=10000", 10000, 10000},
		{"?limit=0", 7000, 7000},
		{"?follow=true&offset=9990", 9990, 10000},
	} {
		status, body, header := n.get(base + c.query)
		require.Equal(t, http.StatusOK, status, c.query)
		require.Equal(t, all.String()[c.from:c.to], body, c.query)
		require.Equal(t, itoa(c.from), header.Get(api.OffsetHeader), c.query)
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
	}
	kept, err := filepath.Glob(filepath.Join(n.dir, "tasks", o.Task.String(), "stdout.*"))
	require.NoError(t, err)
	require.Len(t, kept, 3)
}

// TestFollow: a reader gets what is written while it reads, across rotations, to the
// end.
func TestFollow(t *testing.T) {
	n := newNode(t, func(c *Config) { c.Logs = LogLimits{FileBytes: 100, Files: 50} })
	gate := filepath.Join(sharedFolder(t), "gate")
	o := script(1, "echo begin; while [ ! -e "+gate+" ]; do sleep 0.02; done; i=0; while [ $i -lt 100 ]; do echo line $i; i=$((i+1)); done")
	n.server.order(o)
	n.server.running(t, o.Task)
	web := httptest.NewServer(n.agent.Handler())
	defer web.Close()
	resp, err := http.Get(web.URL + "/v1/tasks/" + o.Task.String() + "/logs/stdout?follow=1")
	require.NoError(t, err)
	defer resp.Body.Close()
	begin := make([]byte, 6)
	_, err = io.ReadFull(resp.Body, begin)
	require.NoError(t, err)
	require.Equal(t, "begin\n", string(begin), "it is there while the task runs")
	require.NoError(t, os.WriteFile(gate, nil, 0o666))
	rest, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var want strings.Builder
	for i := range 100 {
		want.WriteString("line " + itoa(i) + "\n")
	}
	require.Equal(t, want.String(), string(rest))
}

// TestSlowFollower: where a log grows faster than it is read, the answer breaks off before
// what is missing; whoever asks again is told where the log goes on.
func TestSlowFollower(t *testing.T) {
	dir := t.TempDir()
	w := tasklog.NewWriter(dir, tasklog.Stdout, tasklog.Limits{FileBytes: 4, Files: 2})
	w.Write([]byte("0123"))
	log, err := tasklog.Open(dir, tasklog.Stdout, 0)
	require.NoError(t, err)
	got := httptest.NewRecorder()
	require.True(t, copyLog(t.Context(), got, log, logQuery{limit: 100}, dir))
	w.Write([]byte("456789abcdef"))
	require.False(t, copyLog(t.Context(), got, log, logQuery{limit: 100}, dir))
	require.Equal(t, "0123", got.Body.String())
	again, err := tasklog.Open(dir, tasklog.Stdout, 4)
	require.NoError(t, err)
	require.EqualValues(t, 8, again.Offset())
}

// TestFollowerGoesAway: a follower that hangs up leaves nothing behind.
func TestFollowerGoesAway(t *testing.T) {
	n := newNode(t, nil)
	o := script(1, "exec sleep 600")
	n.server.order(o)
	n.server.running(t, o.Task)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req := httptest.NewRequestWithContext(ctx, "GET", "/v1/tasks/"+o.Task.String()+"/logs/stderr?follow=1", nil)
	w := httptest.NewRecorder()
	// It returns, or the test hangs; and cuts the answer off, which was not all.
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { n.agent.Handler().ServeHTTP(w, req) })
	require.Equal(t, http.StatusOK, w.Code)
}

// TestHostileLogNames: no name leads anywhere but to a task's streams.
func TestHostileLogNames(t *testing.T) {
	n := newNode(t, nil)
	require.Equal(t, job.Completed, n.run(script(1, "echo x")).State)
	for path, want := range map[string]int{
		"/v1/tasks/1_0.1.0/logs/stdout":                    200,
		"/v1/tasks/2_0.1.0/logs/stdout":                    404,
		"/v1/tasks/1_0.1.0/logs/task.json":                 400,
		"/v1/tasks/1_0.1.0/logs/stdout.0":                  400,
		"/v1/tasks/1_0.1.0/logs/..%2ftask.json":            400,
		"/v1/tasks/..%2f..%2fterm/logs/stdout":             400,
		"/v1/tasks/1_0.1.0%2f..%2f1_0.1.0/logs/stdout":     400,
		"/v1/tasks/1_0.1.0%00/logs/stdout":                 400,
		"/v1/tasks/01_0.1.0/logs/stdout":                   400,
		"/v1/tasks/1_0.1.0/logs/stdout?offset=x":           400,
		"/v1/tasks/1_0.1.0/logs/stdout?limit=-1":           400,
		"/v1/tasks/1_0.1.0/logs/stdout?follow=maybe":       400,
		"/v1/tasks/1_0.1.0/logs/stdout?offset=99999999999": 200,
	} {
		status, body, _ := n.get(path)
		require.Equal(t, want, status, "%s: %s", path, body)
		require.NotContains(t, body, "argv", path)
	}
	// Nothing goes through a link, whoever may have put it there.
	folder := filepath.Join(n.dir, "tasks", "1_0.1.0")
	require.NoError(t, os.Remove(filepath.Join(folder, "stdout.00000000000000000000")))
	require.NoError(t, os.Symlink(filepath.Join(folder, "task.json"), filepath.Join(folder, "stdout.00000000000000000000")))
	w := httptest.NewRecorder()
	require.PanicsWithValue(t, http.ErrAbortHandler, func() {
		n.agent.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/v1/tasks/1_0.1.0/logs/stdout", nil))
	})
	require.Empty(t, w.Body.String())
}

// TestHandler: metrics and health.
func TestHandler(t *testing.T) {
	n := newNode(t, nil)
	require.Equal(t, job.Completed, n.run(script(1, "true")).State)
	status, body, _ := n.get("/metrics")
	require.Equal(t, 200, status)
	require.Contains(t, body, "berth_agent_tasks_started_total 1\n")
	require.Contains(t, body, `berth_agent_tasks_ended_total{state="COMPLETED"} 1`)
	require.Contains(t, body, "berth_agent_term 1\n")
	status, _, _ = n.get("/healthz")
	require.Equal(t, 200, status)
	eventually(t, "readiness", func() bool { status, _, _ := n.get("/readyz"); return status == 200 })
	n.stop()
	r := httptest.NewRequest("GET", "/healthz", nil)
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Millisecond)
	defer cancel()
	w := httptest.NewRecorder()
	n.agent.Handler().ServeHTTP(w, r.WithContext(ctx))
	require.Equal(t, 503, w.Code)
}

// TestSweep: what is old goes, and the oldest of what takes too much room; but the ID
// of a task that servers may still ask for stays.
func TestSweep(t *testing.T) {
	n := newNode(t, nil)
	for i := range 3 {
		require.Equal(t, job.Completed, n.run(script(i+1, "head -c 100000 /dev/zero")).State)
	}
	n.server.unlist(taskID(1))
	n.server.unlist(taskID(2))
	eventually(t, "two to be forgotten", func() bool {
		n.server.change(func() { n.server.index++ })
		var known int
		n.agent.do(t.Context(), func(tb *table) { known = len(tb.tasks) })
		return known == 1
	})
	folders := func() (names []string) {
		found, err := ids(filepath.Join(n.dir, "tasks"))
		require.NoError(t, err)
		for _, id := range found {
			names = append(names, id.String())
		}
		return names
	}
	keep := n.agent.cfg.Keep
	require.NoError(t, n.agent.sweepOnce(t.Context(), keep, time.Now()))
	require.Equal(t, []string{"1_0.1.0", "2_0.1.0", "3_0.1.0"}, folders())
	keep.Bytes = 250_000
	require.NoError(t, n.agent.sweepOnce(t.Context(), keep, time.Now()))
	require.Equal(t, []string{"2_0.1.0", "3_0.1.0"}, folders())
	require.NoError(t, n.agent.sweepOnce(t.Context(), keep, time.Now().Add(30*24*time.Hour)))
	require.Equal(t, []string{"3_0.1.0"}, folders())
	require.Empty(t, n.log(taskID(3), "stdout"))
	// Its ID is still known: it does not run again.
	ran := filepath.Join(sharedFolder(t), "ran")
	n.server.order(script(3, "touch "+ran))
	require.Equal(t, job.Completed, n.run(script(4, "true")).State)
	require.NoFileExists(t, ran)
}

// tinyDisk is a folder on a disk of its own, of so many bytes.
func tinyDisk(t *testing.T, bytes int) string {
	t.Helper()
	dir := openFolder(t)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=711,size="+itoa(bytes)); err != nil {
		t.Skipf("a full disk needs the right to mount: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// fill takes all room of a disk.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	for size := 1 << 16; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return func() { os.Remove(path) }
}

// TestFullDisk: a task whose start cannot be written down is not started; one that
// ends while the disk is full is reported as it ended; and both go well again. A change of
// the leader keeps neither from being reported.
func TestFullDisk(t *testing.T) {
	dir := tinyDisk(t, 1<<20)
	shared := sharedFolder(t)
	gate, ran := filepath.Join(shared, "gate"), filepath.Join(shared, "ran")
	n := &node{t: t, server: newServer(), dir: dir}
	n.start(nil)
	o := script(1, "while [ ! -e "+gate+" ]; do sleep 0.02; done; echo lost; exit 9")
	n.server.order(o)
	n.server.running(t, o.Task)
	free := fill(t, dir)
	n.server.change(func() { n.server.term = 17 })

	r := n.run(script(2, "touch "+ran))
	require.Equal(t, job.BootFail, r.State)
	require.Equal(t, "data folder: no space left on device", r.Message)
	require.NoFileExists(t, ran)

	require.NoError(t, os.WriteFile(gate, nil, 0o666))
	r = n.server.ended(t, o.Task)
	require.Equal(t, job.Failed, r.State)
	require.Equal(t, &api.Exit{Code: 9}, r.Exit)
	require.Contains(t, r.Message, "5 bytes of its output could not be kept")
	term, err := n.agent.folders.readTerm()
	require.NoError(t, err)
	require.EqualValues(t, 17, term)

	free()
	require.Equal(t, job.Completed, n.run(script(3, "true")).State)
	eventually(t, "the shim to write down the end", func() bool { return n.status(o.Task).State == job.Failed })
	eventually(t, "the shim to end", func() bool {
		_, err := shim.Dial(filepath.Join(dir, "tasks", o.Task.String()))
		return err != nil
	})
}

// TestLogsGiveWay: a task that fills the disk with its output is reported, and the next one
// runs: of logs that nobody writes any more as much is dropped as that needs, and a reader
// is told so.
func TestLogsGiveWay(t *testing.T) {
	n := &node{t: t, server: newServer(), dir: tinyDisk(t, 4<<20)}
	n.start(func(c *Config) { c.Logs = LogLimits{FileBytes: 100 << 10, Files: 1000} })
	o := script(1, "head -c 20000000 /dev/zero")
	r := n.run(o)
	require.Equal(t, job.Completed, r.State)
	require.Contains(t, r.Message, "bytes of its output could not be kept")
	require.Equal(t, job.Completed, n.run(script(2, "echo x")).State)
	require.Empty(t, n.agent.unhealthy.String())
	require.Equal(t, "x\n", n.log(taskID(2), "stdout"), "the oldest give way first")
	status, body, header := n.get("/v1/tasks/" + o.Task.String() + "/logs/stdout")
	require.Equal(t, http.StatusOK, status)
	require.NotEmpty(t, body, "no more than needed is dropped")
	require.NotEqual(t, "0", header.Get(api.OffsetHeader))
}

// TestKeepIsAShare: what is kept by default is a share of a small disk.
func TestKeepIsAShare(t *testing.T) {
	require.Equal(t, DefaultKeepBytes, Keep{}.within(disk{}).Bytes, "the disk is not known")
	require.Equal(t, DefaultKeepBytes, Keep{}.within(disk{bytes: 1 << 40}).Bytes)
	require.Equal(t, job.Bytes(5<<20), Keep{}.within(disk{bytes: 20 << 20}).Bytes)
	require.Equal(t, job.Bytes(1<<50), Keep{Bytes: 1 << 50}.within(disk{bytes: 20 << 20}).Bytes, "an operator has said so")
	for _, c := range []struct {
		disk disk
		want int64
	}{
		{disk{}, 0},
		{disk{bytes: 32 << 20, free: 3 << 20}, -1 << 20},
		{disk{bytes: 32 << 20, free: 1 << 20}, 1 << 20},
		{disk{bytes: 1 << 40, free: 10 << 20}, 6 << 20},
	} {
		require.Equal(t, c.want, c.disk.missing())
	}
}

// TestShimIsSmall: there is one for each task of a node.
func TestShimIsSmall(t *testing.T) {
	n := newNode(t, nil)
	o := script(1, "head -c 10000000 /dev/zero; exec sleep 600")
	n.server.order(o)
	n.server.running(t, o.Task)
	eventually(t, "its output", func() bool { return len(n.log(o.Task, "stdout")) == 10000000 })
	text, err := os.ReadFile("/proc/" + itoa(parentOf(t, n.status(o.Task).PID)) + "/status")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "RssAnon:" {
			kib, err := strconv.Atoi(f[1])
			require.NoError(t, err)
			t.Logf("a shim has %d KiB of its own", kib)
			require.Less(t, kib, 64<<10, "with the race detector it is about three times that of without")
			return
		}
	}
	t.Fatal("the kernel does not say")
}
