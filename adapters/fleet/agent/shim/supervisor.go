package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
	"github.com/berth-project/berth/adapters/fleet/agent/internal/proc"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// supervisor looks after one task. All its fields belong to the goroutine of Main;
// connections speak to it by asked.
type supervisor struct {
	task    Task
	group   *cgroup.Group // nil: none
	outputs *outputs
	family  *family
	status  Status

	asked   chan question
	conns   map[net.Conn]bool // those that asked
	signals chan os.Signal
	warn    *time.Timer // before the limit
	limit   *time.Timer // the task's time limit
	kill    *time.Timer // the end of the grace

	// ending says why the task was told to end; nil: it was not. killAt is when the
	// grace ends.
	ending *Stop
	killAt time.Time
	peak   int64 // of what was seen of its memory
	// unheard: there was no process to get the signal before the time limit.
	unheard bool
}

func newSupervisor(t Task) *supervisor {
	s := &supervisor{
		task:    t,
		asked:   make(chan question),
		conns:   map[net.Conn]bool{},
		signals: make(chan os.Signal, 8),
		warn:    stoppedTimer(),
		limit:   stoppedTimer(),
		kill:    stoppedTimer(),
	}
	if t.Cgroup != "" {
		s.group = cgroup.At(t.Cgroup)
	}
	return s
}

func stoppedTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// begin starts the task and writes that down.
func (s *supervisor) begin() (err error) {
	if s.outputs, err = openOutputs(s.task); err != nil {
		return err
	}
	pid, err := start(s.task, s.outputs)
	s.outputs.started()
	if err != nil {
		return err
	}
	now := time.Now()
	s.family = newFamily(pid)
	if s.task.TimeLimit > 0 {
		s.limit.Reset(s.task.TimeLimit)
		if s.task.WarnBefore > 0 {
			s.warn.Reset(max(0, s.task.TimeLimit-s.task.WarnBefore))
		}
	}
	s.status.State, s.status.PID, s.status.Started = job.Running, pid, now
	// Not known, these two only help to find leftovers.
	s.status.Boot, _ = proc.BootID()
	if stat, err := proc.Read(pid); err == nil {
		s.status.Start = stat.Start
	}
	if err := writeStatus(s.status); err != nil {
		// It runs, and the agent hears so by the socket. If the disk stays full the
		// end cannot be written down either, and will be said to be the node's.
		fmt.Fprintln(os.Stderr, "shim:", err)
	}
	return nil
}

// supervise returns when the first process has ended.
func (s *supervisor) supervise() {
	sample := time.NewTimer(0)
	defer sample.Stop()
	if s.task.CgroupMemory {
		sample.Stop()
	}
	for {
		select {
		case status := <-s.family.exited:
			s.exited(status)
			return
		case q := <-s.asked:
			s.answer(q)
		case <-s.warn.C:
			if s.ending == nil {
				s.sendWarning()
			}
		case <-s.limit.C:
			if s.ending == nil {
				s.stop(Stop{State: job.Timeout, Grace: s.task.KillGrace})
			}
		case <-s.kill.C:
			s.killAll()
		case n := <-s.signals:
			if n == unix.SIGTERM && s.ending == nil {
				s.stop(Stop{State: job.NodeFail, Grace: s.task.KillGrace,
					Reason: "the shim was told to end, as at the shutdown of the node"})
			}
		case <-sample.C:
			sample.Reset(s.sample())
		}
	}
}

// sendWarning sends the signal before the time limit.
func (s *supervisor) sendWarning() {
	n, err := SignalNumber(s.task.WarnSignal)
	if err != nil {
		return
	}
	reached := false
	if s.task.WarnTo != WarnOthers {
		reached = unix.Kill(s.family.first, n) == nil
	}
	if s.task.WarnTo != WarnFirst {
		for _, pid := range proc.Descendants(os.Getpid()) {
			if pid != s.family.first && proc.Signal(pid, n, isDescendant) {
				reached = true
			}
		}
	}
	s.unheard = !reached
}

// stop asks the task to end, and sees to it that it does.
func (s *supervisor) stop(stop Stop) {
	name := stop.Signal
	if name == "" {
		name = "TERM"
	}
	if n, err := SignalNumber(name); err == nil && stop.Grace > 0 {
		s.family.signal(n)
	}
	at := time.Now().Add(stop.Grace)
	if s.ending == nil || at.Before(s.killAt) {
		s.killAt = at
		s.kill.Reset(stop.Grace)
	}
	s.ending = &stop
}

// killAll sends SIGKILL to all of the task, and once more a little later in case that
// some were just being born. The end of the first process shows in exited.
func (s *supervisor) killAll() {
	if s.group != nil {
		s.group.Kill()
	}
	unix.Kill(-s.family.first, unix.SIGKILL)
	for _, pid := range proc.Descendants(os.Getpid()) {
		proc.Kill(pid, isDescendant)
	}
	s.kill.Reset(time.Second)
}

// now is the time by the clock as it was when the task started. The clock may have been set
// since, and what the task has used is counted from the one time to the other.
func (s *supervisor) now() time.Time {
	if s.status.Started.IsZero() {
		return time.Now()
	}
	return s.status.Started.Add(time.Since(s.status.Started))
}

// exited sets down how the task ended.
func (s *supervisor) exited(status syscall.WaitStatus) {
	s.status.Ended = s.now()
	s.status.Exit = &Exit{Code: status.ExitStatus()}
	if status.Signaled() {
		s.status.Exit = &Exit{Code: -1, Signal: signalName(status.Signal())}
	}
	switch {
	case s.ending != nil:
		s.status.State, s.status.Message = s.ending.State, s.ending.Reason
	case status.ExitStatus() == 0:
		s.status.State = job.Completed
	case s.group != nil && s.group.OOMKills() > 0:
		s.status.State = job.OutOfMemory
		s.status.Message = fmt.Sprintf("its memory limit is %d bytes", s.task.Memory)
	default:
		s.status.State = job.Failed
	}
}

// drainLimit is how long the last of the output may take when no process is left.
const drainLimit = 10 * time.Second

// end kills what the task left behind, and writes down how it ended.
func (s *supervisor) end() error {
	if s.status.Ended.IsZero() {
		s.status.Ended = s.now()
	}
	if s.family != nil {
		if !s.family.kill(s.group) {
			s.note("some of its processes did not end by SIGKILL")
		}
		s.status.Usage = s.usage()
		s.noteMemory()
	}
	if s.unheard {
		s.note(fmt.Sprintf("the signal %s before the time limit went to no process: its script had started none; B:%[1]s is for the script itself", s.task.WarnSignal))
	}
	if s.outputs != nil {
		s.outputs.finish(drainLimit)
		for _, text := range s.outputs.missing(s.task.Logs) {
			s.note(text)
		}
	}
	return s.record()
}

// recordEvery is how often it is tried to write down the end of a task, where the
// disk does not take it.
const recordEvery = 5 * time.Second

// record writes the status down and tells it to the agents that are connected. While
// the disk is full it stays, tries again, and answers agents: what is known of the end
// must not get lost. It gives up where the task's folder has gone, or it is told to end.
func (s *supervisor) record() error {
	for {
		err := writeStatus(s.status)
		for conn := range s.conns {
			s.send(conn)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return err
		}
		fmt.Fprintln(os.Stderr, "shim:", err)
		if !s.answerFor(recordEvery) {
			return err
		}
	}
}

// answerFor answers agents for a while. It reports false where it is told to end.
func (s *supervisor) answerFor(d time.Duration) bool {
	end := time.After(d)
	for {
		select {
		case q := <-s.asked:
			q.request.Stop = nil // it has ended
			s.answer(q)
		case n := <-s.signals:
			if n == unix.SIGTERM {
				return false
			}
		case <-end:
			return true
		}
	}
}

func (s *supervisor) note(text string) {
	if s.status.Message != "" {
		text = s.status.Message + "; " + text
	}
	s.status.Message = text
}

// usage is what was used so far: by what the control group counted, where it did,
// else by what the kernel says of the processes that have ended.
func (s *supervisor) usage() Usage {
	var u Usage
	select {
	case <-s.family.gone:
		u = s.family.used
	default:
	}
	u.PeakMemory = max(u.PeakMemory, s.peak)
	if s.group == nil {
		return u
	}
	counted := s.group.Usage()
	if counted.CPU > 0 {
		u.CPU = counted.CPU
	}
	if counted.PeakMemory > 0 {
		u.PeakMemory = counted.PeakMemory
	}
	if counted.ReadBytes+counted.WriteBytes > 0 {
		u.ReadBytes, u.WriteBytes = counted.ReadBytes, counted.WriteBytes
	}
	return u
}
