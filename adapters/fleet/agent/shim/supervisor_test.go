package shim

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// TestExited is what a task is said to have ended as, by how its first process ended,
// what the kernel says of its memory, and what it was told.
func TestExited(t *testing.T) {
	code := func(n int) syscall.WaitStatus { return syscall.WaitStatus(n << 8) }
	signal := func(n syscall.Signal) syscall.WaitStatus { return syscall.WaitStatus(n) }
	const noOOM, oom = "oom_kill 0\n", "oom 1\noom_kill 3\noom_group_kill 1\n"
	for _, c := range []struct {
		name   string
		status syscall.WaitStatus
		events string // memory.events of its control group
		ending *Stop
		state  job.State
		exit   Exit
	}{
		{"good", code(0), noOOM, nil, job.Completed, Exit{}},
		{"bad", code(3), noOOM, nil, job.Failed, Exit{Code: 3}},
		{"killed", signal(9), noOOM, nil, job.Failed, Exit{Code: -1, Signal: "KILL"}},
		{"killed by the kernel for its memory", signal(9), oom, nil, job.OutOfMemory, Exit{Code: -1, Signal: "KILL"}},
		{"a child of it was, and it failed by that", code(137), oom, nil, job.OutOfMemory, Exit{Code: 137}},
		{"a child of it was, and it did without", code(0), oom, nil, job.Completed, Exit{}},
		{"told to end, and well behaved", code(0), noOOM, &Stop{State: job.Timeout}, job.Timeout, Exit{}},
		{"told to end, and out of memory", signal(9), oom, &Stop{State: job.Cancelled}, job.Cancelled, Exit{Code: -1, Signal: "KILL"}},
		{"by a signal without a name", signal(40), noOOM, nil, job.Failed, Exit{Code: -1, Signal: "40"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			group := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(group, "memory.events"), []byte(c.events), 0o600))
			s := newSupervisor(Task{Cgroup: group, Memory: 1})
			s.ending = c.ending
			s.exited(c.status)
			require.Equal(t, c.state, s.status.State)
			require.Equal(t, &c.exit, s.status.Exit)
			require.WithinDuration(t, time.Now(), s.status.Ended, time.Minute)
		})
	}
}

// A clock that is set while a task runs does not change how long it has run: a node may
// have started with the clock of another century.
func TestClockSetMeanwhile(t *testing.T) {
	for _, by := range []time.Duration{6 * time.Hour, -6 * time.Hour} {
		s := newSupervisor(Task{})
		s.status.Started = setClock(time.Now(), -by)
		s.exited(0)
		require.InDelta(t, 0, s.status.Ended.Round(0).Sub(s.status.Started.Round(0)), float64(time.Minute))
	}
}

// setClock is a time as it would have been read, at the same moment, from a clock that is
// off by so many seconds: package time has them above the 30 bits of nanoseconds.
func setClock(at time.Time, by time.Duration) time.Time {
	wall := (*uint64)(unsafe.Pointer(&at))
	*wall += uint64(int64(by/time.Second)) << 30
	return at
}

// TestRecord: while the end cannot be written down the shim stays, and tries again, until it
// can be, or the shim is told to end: it may be that no agent ever comes.
func TestRecord(t *testing.T) {
	for name, told := range map[string]bool{"there is room again": false, "it is told to end": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			full := filepath.Join(dir, "."+statusFile+".new", "x") // no disk, but no file of that name either
			require.NoError(t, os.MkdirAll(full, 0o700))
			synctest.Test(t, func(t *testing.T) {
				s := newSupervisor(Task{})
				s.status.State, s.status.Ended = job.Completed, time.Now()
				s.signals <- unix.SIGHUP // changes nothing
				go func() {
					time.Sleep(time.Minute)
					if told {
						s.signals <- unix.SIGTERM
					} else {
						os.RemoveAll(filepath.Dir(full))
					}
				}()
				began := time.Now()
				require.Equal(t, told, s.record() != nil)
				require.InDelta(t, time.Minute, time.Since(began), float64(recordEvery))
			})
			_, err := os.Stat(filepath.Join(dir, statusFile))
			require.Equal(t, told, os.IsNotExist(err))
		})
	}
}

// TestUntilLook: memory is looked at often where it may soon be too much, and looking
// never takes much of the time.
func TestUntilLook(t *testing.T) {
	const limit, little, ms = 1000, 10, time.Millisecond
	for _, c := range []struct {
		name      string
		ran       time.Duration
		held, max int64
		took      time.Duration
		want      time.Duration
	}{
		{"it begins", time.Second, little, limit, ms, 100 * ms},
		{"it has run for long", time.Hour, little, limit, ms, 1000 * ms},
		{"it is near its limit", time.Hour, 751, limit, ms, 100 * ms},
		{"it is over its limit, and ends", time.Hour, 2000, limit, ms, 100 * ms},
		{"it has no limit", time.Second, little, 0, ms, 1000 * ms},
		{"it has many processes", time.Second, little, limit, 20 * ms, 400 * ms},
		{"it has very many", time.Hour, little, limit, 100 * ms, 2000 * ms},
	} {
		require.Equal(t, c.want, untilLook(c.ran, c.held, c.max, c.took), c.name)
	}
}

// TestNoteMemory: what took too much for a moment, and was not seen, ends as it did, with
// a note. The kernel's count has files that are mapped, so a little more is nothing.
func TestNoteMemory(t *testing.T) {
	const limit = 100 << 20
	for _, c := range []struct {
		name string
		task Task
		end  job.State
		peak int64
		note string
	}{
		{"a burst", Task{Memory: limit}, job.Completed, 1500 << 20, "held up to 1500 MiB of memory, with files that it had mapped, and its limit is 100 MiB"},
		{"and failed", Task{Memory: limit}, job.Failed, 1500 << 20, "held up to 1500 MiB"},
		{"its libraries", Task{Memory: limit}, job.Completed, limit + 60<<20, ""},
		{"ended for it", Task{Memory: limit}, job.OutOfMemory, 1500 << 20, ""},
		{"limited by the kernel", Task{Memory: limit, CgroupMemory: true}, job.Completed, 1500 << 20, ""},
		{"no limit", Task{}, job.Completed, 1500 << 20, ""},
	} {
		s := newSupervisor(c.task)
		s.status.State, s.status.Usage.PeakMemory = c.end, c.peak
		s.noteMemory()
		require.Equal(t, c.end, s.status.State, c.name)
		require.Contains(t, s.status.Message, c.note, c.name)
		require.Equal(t, c.note == "", s.status.Message == "", c.name)
	}
}
