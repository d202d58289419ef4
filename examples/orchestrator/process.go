//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A job is a process that outlives the orchestrator. Its folder says how far it has come:
//
//	lock   is locked as long as the process lives. The orchestrator locks it and hands it
//	       over when it starts the process, so there is no moment in between
//	begun  the number of the process. It is made once, so that the job begins once
//	done   is there when the job has done its work

// jobVerb is the first argument of this program where it is the process of a job.
const jobVerb = "job"

// process is one try of a job.
type process struct{ dir string }

// processOf is that of the job's present try.
func processOf(dir string, j *State) process {
	return process{filepath.Join(dir, fmt.Sprintf("%s.%d", j.ID, j.Try))}
}

// start starts it. Where it cannot, nothing runs.
func (p process) start(j *State) error {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	lock, err := p.lock(syscall.LOCK_EX | syscall.LOCK_NB)
	if err != nil {
		return err
	}
	defer lock.Close() // the process has its own
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// It outlives whoever starts it, so it has no context of theirs.
	cmd := exec.CommandContext(context.Background(), self, jobVerb, p.dir, fmt.Sprint(j.Node, " ", j.Cores, " ", j.Millis))
	cmd.ExtraFiles = []*os.File{lock}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // so that no zombie is left; await tells that it has ended
	return nil
}

// lock locks the file. The lock ends with the last process that has the file.
func (p process) lock(how int) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(p.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		return f, nil
	}
}

// lives reports whether the process is there.
func (p process) lives() bool {
	f, err := p.lock(syscall.LOCK_EX | syscall.LOCK_NB)
	if err == nil {
		_ = f.Close()
	}
	return errors.Is(err, syscall.EWOULDBLOCK)
}

// await returns when the process is not there any more.
func (p process) await() {
	if f, err := p.lock(syscall.LOCK_EX); err == nil {
		_ = f.Close()
	}
}

// done reports whether it has done its work.
func (p process) done() bool {
	_, err := os.Stat(filepath.Join(p.dir, "done"))
	return err == nil
}

// end tells the process to end.
func (p process) end() error {
	text, err := os.ReadFile(filepath.Join(p.dir, "begun"))
	if err != nil {
		return err // it begins just now, or never did
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil || !p.lives() {
		return err
	}
	return syscall.Kill(pid, syscall.SIGTERM)
}

// work is what the process does: it says that it begins, works, and says that it is done.
// The log has a line for each of the two, from all jobs.
func work(dir, what string) error {
	begun, err := os.OpenFile(filepath.Join(dir, "begun"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err // another process has begun it
	}
	if _, err := fmt.Fprint(begun, os.Getpid()); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(filepath.Dir(dir), "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	id, _, _ := strings.Cut(filepath.Base(dir), ".")
	if _, err := fmt.Fprintln(log, "begins", id, what); err != nil {
		return err
	}
	millis, err := strconv.Atoi(what[strings.LastIndexByte(what, ' ')+1:])
	if err != nil {
		return err
	}
	time.Sleep(time.Duration(millis) * time.Millisecond)
	if _, err := fmt.Fprintln(log, "ends", id, what); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "done"), nil, 0o600)
}
