package shim

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
	"github.com/berth-project/berth/adapters/fleet/agent/internal/proc"
)

// family are the processes that descend from the shim.
type family struct {
	first int
	// exited has the end of the first process; gone is closed when no descendant
	// is left.
	exited chan syscall.WaitStatus
	gone   chan struct{}
	used   Usage // readable when gone is closed
}

// newFamily waits for every descendant that ends, first and those whose parents
// ended before them, on a goroutine that ends when there are none.
func newFamily(first int) *family {
	f := &family{first: first, exited: make(chan syscall.WaitStatus, 1), gone: make(chan struct{})}
	go f.reap()
	return f
}

func (f *family) reap() {
	defer close(f.gone)
	for {
		var status syscall.WaitStatus
		var used syscall.Rusage
		pid, err := syscall.Wait4(-1, &status, 0, &used)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return // ECHILD
		}
		if pid == f.first && used.Maxrss <= ownPeak() {
			used.Maxrss = 0
		}
		f.add(used)
		if pid == f.first {
			f.exited <- status
		}
	}
}

// ownPeak is the most memory that this process has held, in KiB, 0 where the kernel does
// not say. It gives it to a process that starts as that one's peak, for until it runs its
// own program the memory is shared: what is not above it says nothing. (For the same
// reason this process was given the agent's, so getrusage is of no use here.)
func ownPeak() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" {
			peak, _ := strconv.ParseInt(f[1], 10, 64)
			return peak
		}
	}
	return 0
}

// add counts a process, and with it those that it had waited for itself.
func (f *family) add(r syscall.Rusage) {
	const block = 512
	f.used.CPU += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	f.used.PeakMemory = max(f.used.PeakMemory, r.Maxrss*1024)
	f.used.ReadBytes += r.Inblock * block
	f.used.WriteBytes += r.Oublock * block
}

// signal sends a signal to the process group of the first process, which wakes up
// for it if it was stopped. It is not called once exited has told of its end.
func (f *family) signal(s syscall.Signal) {
	unix.Kill(-f.first, s)
	unix.Kill(-f.first, unix.SIGCONT)
}

// killLimit is how long to wait for processes that were sent SIGKILL. One that
// hangs in the kernel, for example on a dead file server, may take for ever.
const killLimit = 30 * time.Second

// kill kills all descendants, and what is in the control group, until none is left.
// It reports false where some did not end.
func (f *family) kill(group *cgroup.Group) bool {
	limit := time.NewTimer(killLimit)
	defer limit.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		if group != nil {
			group.Kill()
		}
		for _, pid := range proc.Descendants(os.Getpid()) {
			proc.Kill(pid, isDescendant)
		}
		gone := f.gone
		if group != nil && group.Populated() {
			gone = nil // it has others, or the kernel has not caught up
		}
		select {
		case <-gone:
			return true
		case <-time.After(pause):
		case <-limit.C:
			return false
		}
	}
}

func isDescendant(pid int) bool {
	self := os.Getpid()
	for pid > 1 {
		s, err := proc.Read(pid)
		if err != nil {
			return false
		}
		if s.Parent == self {
			return true
		}
		pid = s.Parent
	}
	return false
}

// memory is what the descendants hold now.
func (f *family) memory() (bytes int64) {
	for _, pid := range proc.Descendants(os.Getpid()) {
		bytes += proc.AnonymousBytes(pid)
	}
	return bytes
}
