package shim

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
