package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is a child process. Its methods may be called from any goroutine.
type Process struct {
	name string
	log  string // path of the file with what it writes
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended; cmd.ProcessState is there then
}

// spawner runs functions on one thread that lives as long as the program. The
// kernel sends a child its parent-death signal when the thread that made it ends,
// and Go's threads come and go.
var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// launch starts the program; what it writes goes to the end of a file in dir. The
// goroutine that waits for its end is over when the process is.
func launch(name, path, dir string, args ...string) (*Process, error) {
	p := &Process{name: name, log: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the child has its own
	p.cmd = exec.Command(path, args...)
	p.cmd.Dir = dir
	p.cmd.Env = append(os.Environ(), "HOME="+dir)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	spawner() <- func() { started <- p.cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // ExitCode tells
	}()
	return p, nil
}

// PID is the process's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Wait waits for the end of the process and returns its exit code, which is -1 if a
// signal ended it. The error says that the context was over first.
func (p *Process) Wait(ctx context.Context) (int, error) {
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("%s has not ended: %w", p.name, context.Cause(ctx))
	}
}

// Kill ends the process with SIGKILL, and waits until it is gone. A process that
// has ended is left alone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // an error says that it has ended
	<-p.done
}

// Stop asks the process to end, with SIGTERM, and returns its exit code. If the
// context is over first, the process is killed and the error says so.
func (p *Process) Stop(ctx context.Context) (int, error) {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return 0, err
	}
	code, err := p.Wait(ctx)
	if err != nil {
		p.Kill()
	}
	return code, err
}

// Pause stops the process from running, with SIGSTOP, until Resume. Its
// connections stay open.
func (p *Process) Pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused process run on.
func (p *Process) Resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// Log is all that the process has written, standard output and error alike.
func (p *Process) Log() string {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	return string(content)
}

// Tail is the last lines of the log.
func (p *Process) Tail(lines int) string {
	all := strings.Split(strings.TrimRight(p.Log(), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// tailLines is how much of a log goes into errors.
const tailLines = 30

// ready waits until the check passes. The error says that the process has ended, or
// that the context is over, and has the end of the log.
func (p *Process) ready(ctx context.Context, check func() error) error {
	if err := poll(ctx, p.done, check); err != nil {
		return fmt.Errorf("%s is not ready: %w\n%s", p.name, err, p.Tail(tailLines))
	}
	return nil
}

// pollEvery is the time between two looks at what cannot be waited for.
const pollEvery = 50 * time.Millisecond

var errEnded = errors.New("the process has ended")

// poll repeats the check until it passes, ended is closed or the context is over.
// The error has what the check said last.
func poll(ctx context.Context, ended <-chan struct{}, check func() error) error {
	again := time.NewTicker(pollEvery)
	defer again.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-ended:
			return fmt.Errorf("%w; the last answer: %w", errEnded, err)
		case <-ctx.Done():
			return fmt.Errorf("%w; the last answer: %w", context.Cause(ctx), err)
		}
	}
}
