package controlplane

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Usage is what a process has used since it was started.
type Usage struct {
	CPU     time.Duration // of all its threads, in user mode and in the kernel
	PeakRSS int64         // bytes: the most memory that it had at a time
}

// Usage is that of the process: from the kernel's account at its end, or from /proc
// while it lives, where CPU time is in steps of 10 ms.
func (p *Process) Usage() (Usage, error) {
	select {
	case <-p.done:
		return p.finalUsage()
	default:
	}
	u, err := liveUsage(p.PID())
	if err == nil {
		return u, nil
	}
	select {
	case <-p.done: // just now
		return p.finalUsage()
	default:
		return u, fmt.Errorf("usage of %s: %w", p.name, err)
	}
}

func (p *Process) finalUsage() (Usage, error) {
	state := p.cmd.ProcessState
	ru, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return Usage{}, fmt.Errorf("usage of %s: the system keeps no account", p.name)
	}
	return Usage{CPU: state.UserTime() + state.SystemTime(), PeakRSS: ru.Maxrss << 10}, nil
}

// tick is the unit of the times in /proc, the same on all of Go's platforms.
const tick = 10 * time.Millisecond

// liveUsage reads /proc/PID/stat (fields 14 and 15) and /proc/PID/status.
func liveUsage(pid int) (Usage, error) {
	var u Usage
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, err
	}
	// The second field is a name in brackets, which may have blanks.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return u, fmt.Errorf("/proc/%d/stat has only %d fields", pid, len(fields)+2)
	}
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return u, err
		}
		u.CPU += time.Duration(n) * tick
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			u.PeakRSS = kib << 10
			return u, err
		}
	}
	return u, fmt.Errorf("/proc/%d/status has no VmHWM: the process is ending", pid)
}
