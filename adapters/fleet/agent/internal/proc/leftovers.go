package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"
)

// Leftovers are the processes of a task whose shim has gone.
type Leftovers struct {
	// Mark is a line of their environment, "NAME=value", that no other task has.
	Mark string
	// Session is the number of the task's first process, which began a session;
	// Start the time it started. Session 0: not known.
	Session int
	Start   uint64
}

// Find returns the living processes with the mark, and those of the session.
func (l Leftovers) Find() []int {
	all, err := All()
	if err != nil {
		return nil
	}
	session := l.sessionStillOurs()
	var found []int
	for _, s := range all {
		if s.State == 'Z' || s.PID == os.Getpid() {
			continue
		}
		if session && s.Session == l.Session || l.marked(s.PID) {
			found = append(found, s.PID)
		}
	}
	return found
}

// sessionStillOurs: the number of a session is not given out again while it has a
// member, so where a process of that number lives it must be the first one.
func (l Leftovers) sessionStillOurs() bool {
	if l.Session <= 0 {
		return false
	}
	s, err := Read(l.Session)
	return err != nil || s.Start == l.Start
}

func (l Leftovers) marked(pid int) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || l.Mark == "" {
		return false
	}
	for line := range bytes.SplitSeq(env, []byte{0}) {
		if string(line) == l.Mark {
			return true
		}
	}
	return false
}

func (l Leftovers) belongs(pid int) bool {
	if l.marked(pid) {
		return true
	}
	s, err := Read(pid)
	return err == nil && l.sessionStillOurs() && s.Session == l.Session
}

// Kill kills them until none is left, and returns an error that names those that
// were still there when ctx ended.
func (l Leftovers) Kill(ctx context.Context) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		found := l.Find()
		if len(found) == 0 {
			return nil
		}
		for _, pid := range found {
			Kill(pid, l.belongs)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("processes %v do not end by SIGKILL: %w", found, ctx.Err())
		}
	}
}
