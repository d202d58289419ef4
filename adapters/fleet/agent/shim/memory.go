package shim

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// Where the kernel does not limit memory, the shim looks what a task holds. What it takes
// and gives back between two looks is only seen when a process has ended.

// How long it is from one look to the next: often while a task begins, which is when most
// programs take what they need, and where it is near its limit; rarely else. Looking never
// takes more than a twentieth of the time.
const (
	lookOften   = 100 * time.Millisecond
	lookRarely  = time.Second
	beginning   = 10 * time.Second
	shareOfTime = 20
)

// untilLook is how long to wait with the next look, of a task that has run for so long,
// holds so much, and took so long to look at.
func untilLook(ran time.Duration, held, limit int64, took time.Duration) time.Duration {
	pause := lookRarely
	if limit > 0 && (ran < beginning || held > limit-limit/4) {
		pause = lookOften
	}
	return max(pause, shareOfTime*took)
}

// sample keeps the peak of memory, and enforces its limit where the kernel does not. It
// returns when to do so again.
func (s *supervisor) sample() time.Duration {
	began := time.Now()
	now := s.family.memory()
	s.peak = max(s.peak, now)
	if s.task.Memory > 0 && now > s.task.Memory && s.ending == nil {
		s.stop(Stop{State: job.OutOfMemory,
			Reason: fmt.Sprintf("it held %d bytes of memory, and its limit is %d", now, s.task.Memory)})
	}
	return untilLook(began.Sub(s.status.Started), now, s.task.Memory, time.Since(began))
}

// mappedFiles is how much a process may have of files that it has mapped, its program and
// libraries. The kernel's peak of a process has them, its limit has not.
const mappedFiles = 64 << 20

// noteMemory notes that a process held more than the task may, and nobody saw it in time.
// How the task ended stays as it is: what it did is done, and the peak is no proof:
// a task that reads large files by mapping them is within the limit.
func (s *supervisor) noteMemory() {
	peak, limit := s.status.Usage.PeakMemory, s.task.Memory
	if s.task.CgroupMemory || limit == 0 || s.status.State == job.OutOfMemory || peak <= limit+mappedFiles {
		return
	}
	s.note(fmt.Sprintf("one of its processes held up to %d MiB of memory, with files that it had mapped, and its limit is %d MiB: "+
		"a limit is kept to at every moment only on nodes with control groups", peak>>20, limit>>20))
}
