package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
	"github.com/berth-project/berth/adapters/fleet/agent/fingerprint"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// fakeMachine is an agent on a machine of four processors and 1 GiB, of which tasks may use
// three and half of it. Its proc file system is as the test says, and nothing runs.
type fakeMachine struct {
	t    *testing.T
	b    *loadBook
	dir  string
	now  time.Time
	busy float64 // ticks of all processors together
	all  float64
}

func newFakeMachine(t *testing.T) *fakeMachine {
	t.Helper()
	dir := t.TempDir()
	m := &fakeMachine{t: t, dir: dir, now: time.Unix(1e9, 0)}
	m.write("sys/devices/system/cpu/online", "0-3\n")
	m.write("proc/self/status", "Cpus_allowed_list:\t0-3\n")
	c := testConfig(t, t.TempDir(), newServer())
	c.Machine = fingerprint.Options{Proc: filepath.Join(dir, "proc"), Sys: filepath.Join(dir, "sys")}
	a, err := New(c)
	require.NoError(t, err)
	a.machine.Store(&api.Machine{CPU: 3000, Memory: 1 << 29, Threads: 4})
	m.b = a.load
	return m
}

func (m *fakeMachine) write(name, text string) {
	m.t.Helper()
	path := filepath.Join(m.dir, name)
	require.NoError(m.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(m.t, os.WriteFile(path, []byte(text), 0o600))
}

// pass has so many processors be busy and so many MiB of memory be used for a time, in which
// the agent measures.
func (m *fakeMachine) pass(d time.Duration, cores float64, mib int) {
	m.t.Helper()
	for range d / measureEvery {
		m.now = m.now.Add(measureEvery)
		m.busy += cores * measureEvery.Seconds() * 100
		m.all += 4 * measureEvery.Seconds() * 100
		text := ""
		for i := range 4 {
			text += fmt.Sprintf("cpu%d %d 0 0 %d 0 0 0 0 0 0\n", i, int(m.busy/4), int((m.all-m.busy)/4))
		}
		m.write("proc/stat", text)
		m.write("proc/meminfo", fmt.Sprintf("MemTotal: %d kB\nMemAvailable: %d kB\n", 1<<20, 1<<20-mib<<10))
		m.b.measure(m.now)
	}
}

// wants has a server want reports.
func (m *fakeMachine) wants(every time.Duration) {
	m.b.answered(&api.PollResponse{Measure: job.Duration(every)})
}

// averages are those of the report, by window: of processors and of memory, -1 where not there.
func averages(l *api.Load) (out [][3]float64) {
	if l == nil {
		return nil
	}
	for _, w := range l.Windows {
		row := [3]float64{time.Duration(w.Window).Minutes(), -1, -1}
		if w.CPU != nil {
			row[1] = w.CPU.Average
		}
		if w.Memory != nil {
			row[2] = w.Memory.Average
		}
		out = append(out, row)
	}
	return out
}

// What is reported is in percent of what tasks may use, over the windows that were measured
// whole.
func TestLoadIsSummedUp(t *testing.T) {
	t.Parallel()
	m := newFakeMachine(t)
	m.pass(2*time.Minute, 4, 1024)
	require.Zero(t, m.b.cpu.Last(), "nobody wants to know")
	m.wants(15 * time.Second)
	m.pass(30*time.Second, 1.5, 256)
	require.Nil(t, m.b.report(m.now, nil), "not a minute yet")
	m.pass(35*time.Second, 1.5, 256)
	require.Equal(t, [][3]float64{{1, 50, 50}}, averages(m.b.report(m.now, nil)))
	m.pass(time.Minute, 3, 512)
	require.Equal(t, [][3]float64{{1, 100, 100}}, averages(m.b.report(m.now, nil)))
	m.pass(3*time.Minute, 0, 0)
	got := m.b.report(m.now.Add(2*time.Second), nil)
	require.Equal(t, job.Duration(2*time.Second), got.Age)
	require.Len(t, got.Windows, 2)
	w := got.Windows[1]
	require.Equal(t, job.Duration(5*time.Minute), w.Window)
	// The last 5 minutes: 12 measurements of 100, 11 or 12 of 50, 36 of 0, of which the oldest
	// one or none is not there.
	require.InDelta(t, 30, w.CPU.Average, 1)
	require.Equal(t, []float64{0, 100, 100, 100}, []float64{w.CPU.P50, w.CPU.P90, w.CPU.P95, w.CPU.P99})
	m.pass(15*time.Minute, 4, 1024)
	require.Equal(t, [][3]float64{{1, 133.33, 200}, {5, 133.33, 200}, {15, 133.33, 200}}, averages(m.b.report(m.now, nil)),
		"the system uses what tasks may not")
	m.b.answered(&api.PollResponse{})
	m.pass(15*time.Second, 1, 1)
	m.now = m.now.Add(time.Minute)
	require.Nil(t, m.b.report(m.now, nil), "nobody wants to know any more")
}

// Where /proc does not say what is needed the rest is reported, and it is said once in the log.
func TestLoadWithoutProc(t *testing.T) {
	t.Parallel()
	m := newFakeMachine(t)
	log := &hclog.LoggerOptions{Output: &lineCounter{}, Level: hclog.Warn}
	m.b.agent.log = hclog.New(log)
	m.wants(15 * time.Second)
	for range 30 {
		m.now = m.now.Add(measureEvery)
		m.b.measure(m.now)
	}
	require.Nil(t, m.b.report(m.now, nil))
	require.Equal(t, 1, log.Output.(*lineCounter).lines)
	m.pass(2*time.Minute, 1.5, 256)
	require.Equal(t, [][3]float64{{1, 50, 50}}, averages(m.b.report(m.now, nil)))
	// Only one of the files is left: what the other said grows old.
	require.NoError(t, os.Remove(filepath.Join(m.dir, "proc/stat")))
	for range 12 {
		m.now = m.now.Add(measureEvery)
		m.b.measure(m.now)
	}
	require.Equal(t, [][3]float64{{1, -1, 50}}, averages(m.b.report(m.now, nil)))
	require.NoError(t, os.Remove(filepath.Join(m.dir, "proc/meminfo")))
	m.b.measure(m.now.Add(measureEvery))
	require.Nil(t, m.b.report(m.now.Add(time.Minute), nil), "what was measured is too old")
	m.write("proc/stat", "cpu0 99999999999999999999 x\n")
	m.write("proc/meminfo", "MemTotal: -5 kB\nMemAvailable: 1 kB\n")
	m.b.measure(m.now.Add(2 * measureEvery))
}

type lineCounter struct{ lines int }

func (w *lineCounter) Write(p []byte) (int, error) { w.lines++; return len(p), nil }

// A processor that comes or goes, and counters that begin anew, are no load.
func TestLoadAfterHotplug(t *testing.T) {
	t.Parallel()
	m := newFakeMachine(t)
	m.wants(15 * time.Second)
	m.pass(time.Minute, 3, 0)
	before := m.b.cpu.Last()
	m.busy, m.all = 0, 0
	m.pass(measureEvery, 4, 0)
	require.Equal(t, before, m.b.cpu.Last(), "counters went back")
	m.pass(time.Minute, 3, 0)
	m.write("sys/devices/system/cpu/online", "0-1\n")
	m.b.agent.machine.Store(&api.Machine{CPU: 1500, Memory: 1 << 29, Threads: 2})
	before = m.b.cpu.Last()
	m.pass(measureEvery, 3, 0)
	require.Equal(t, before, m.b.cpu.Last(), "two of four are no longer counted")
	m.pass(time.Minute, 3, 0)
	require.Equal(t, 100.0, averages(m.b.report(m.now, nil))[0][1], "1.5 of the two")
}

// What tasks use is read from their control groups, wherever those are.
func TestLoadOfTasks(t *testing.T) {
	t.Parallel()
	m := newFakeMachine(t)
	parent := t.TempDir()
	tree, err := cgroup.Open(cgroup.Options{Parent: parent, Name: "b"})
	require.NoError(t, err)
	m.b.agent.tree = tree
	group := func(path string, micros, memory, cached int) {
		m.dir = parent
		m.write(filepath.Join("b", path, "cpu.stat"), fmt.Sprintf("usage_usec %d\n", micros))
		m.write(filepath.Join("b", path, "memory.current"), fmt.Sprint(memory))
		m.write(filepath.Join("b", path, "memory.stat"), fmt.Sprintf("anon 1\ninactive_file %d\n", cached))
	}
	ids := []job.TaskID{taskID(1), taskID(2), taskID(3)}
	group("1_0.1.0", 1e6, 100, 0)
	group("shared/2_0.1.0", 5e6, 100, 30)
	got := m.b.readTasks(m.now, ids)
	require.Equal(t, []api.TaskLoad{{Task: ids[0], Memory: 100}, {Task: ids[1], Memory: 70}}, got)
	group("1_0.1.0", 21e6, 50, 60)
	group("shared/2_0.1.0", 4e6, 100, 0) // another group that has the name
	got = m.b.readTasks(m.now.Add(10*time.Second), ids)
	require.Equal(t, []api.TaskLoad{{Task: ids[0], CPU: 2000}, {Task: ids[1], Memory: 100}}, got)
	m.b.readTasks(m.now, nil)
	require.Empty(t, m.b.tasks, "tasks that have ended are forgotten")
}

// Nothing is sent before a server asks for it, nor after a failure, for the next server may be
// of a version that refuses it; a new leader is told at once.
func TestLoadIsSentWhereWanted(t *testing.T) {
	t.Parallel()
	m := newFakeMachine(t)
	b, now := m.b, m.now
	require.False(t, b.due(now, 1))
	m.wants(15 * time.Second)
	require.True(t, b.due(now, 1))
	b.sentTo(now, 1)
	require.False(t, b.due(now.Add(14*time.Second), 1))
	require.True(t, b.due(now.Add(15*time.Second), 1))
	require.True(t, b.due(now, 2), "another leads")
	b.failed()
	require.False(t, b.due(now.Add(time.Hour), 2))
	m.wants(15 * time.Second)
	require.True(t, b.due(now, 1))
	m.wants(time.Nanosecond)
	b.sentTo(now, 1)
	require.False(t, b.due(now.Add(minMeasure-1), 1))
	b.answered(&api.PollResponse{})
	require.False(t, b.due(now.Add(time.Hour), 1))
}

// An agent that works sends the load with a heartbeat, where it is asked for.
func TestLoadGoesWithHeartbeats(t *testing.T) {
	t.Parallel()
	m := newFakeMachine(t)
	s := newServer()
	measuring := &measuringServer{fakeServer: s}
	a, err := New(testConfig(t, openFolder(t), measuring))
	require.NoError(t, err)
	a.load.wanted = time.Second // as if it had been asked before, a minute ago
	for range 12 {
		m.now = m.now.Add(measureEvery)
		a.load.memory.Add(time.Now().Add(-time.Minute+m.now.Sub(time.Unix(1e9, 0))), 25)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	s.until(t, "a load", func() bool {
		for _, p := range s.polls {
			if p.Load != nil {
				require.Equal(t, [][3]float64{{1, -1, 25}}, averages(p.Load))
				require.Nil(t, s.polls[0].Load, "nobody had asked")
				return true
			}
		}
		return false
	})
	cancel()
	require.NoError(t, <-done)
}

// measuringServer wants reports of load.
type measuringServer struct{ *fakeServer }

func (s *measuringServer) Poll(ctx context.Context, r api.PollRequest) (api.PollResponse, error) {
	resp, err := s.fakeServer.Poll(ctx, r)
	resp.Measure = job.Duration(time.Second)
	return resp, err
}
