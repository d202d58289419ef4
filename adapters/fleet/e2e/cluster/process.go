package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// role is the command that a process runs.
type role string

const (
	serverRole role = "server"
	agentRole  role = "agent"
)

// Process is a server or an agent. Its methods may be called by any goroutine.
type Process struct {
	Name string // in the fleet, and of its log
	// Address is host:port.
	Address string
	// Data is its data folder.
	Data string

	role      role
	program   string
	args      []string
	namespace string
	log       string
	revive    bool
	work      *sync.WaitGroup
	over      map[string]string // see Options

	mu     sync.Mutex
	cmd    *exec.Cmd
	ended  chan struct{} // closed when cmd has ended and was waited for
	wanted bool          // it should run
	starts int
}

// reviveAfter is the pause before a process is started again.
const reviveAfter = 200 * time.Millisecond

// Start starts the process, where it does not run.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = true
	return p.start()
}

// start does so with the lock.
func (p *Process) start() error {
	if p.ended != nil {
		select {
		case <-p.ended:
		default:
			return nil
		}
	}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close() // the child has its own
	p.starts++
	fmt.Fprintf(out, "--- start %d at %s\n", p.starts, time.Now().Format(time.RFC3339Nano))
	cmd := p.command()
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = out, out
	if err := spawn(cmd, p.namespace); err != nil {
		return err
	}
	p.cmd, p.ended = cmd, make(chan struct{})
	p.work.Go(func() { p.await(cmd, p.ended) })
	return nil
}

// command is the program with its arguments, with mounts of its own where it needs any.
func (p *Process) command() *exec.Cmd {
	if len(p.over) == 0 {
		return exec.Command(p.program, p.args...)
	}
	var script strings.Builder
	args := []string{"--mount", "sh", "-c", "", "mounts"}
	for path, file := range p.over {
		if file == "" {
			script.WriteString(`mount -t tmpfs berth-e2e "$1" && shift && `)
			args = append(args, path)
		} else {
			script.WriteString(`mount --bind "$1" "$2" && shift 2 && `)
			args = append(args, file, path)
		}
	}
	args[3] = script.String() + `exec "$@"`
	return exec.Command("unshare", append(append(args, p.program), p.args...)...)
}

// await waits for the end, and starts the process again where that is wanted.
func (p *Process) await(cmd *exec.Cmd, ended chan struct{}) {
	_ = cmd.Wait() // how it ended is in its ProcessState
	p.mu.Lock()
	p.note(cmd.ProcessState.String())
	close(ended)
	again := p.revive && p.wanted
	p.mu.Unlock()
	if !again {
		return
	}
	time.Sleep(reviveAfter) // as long as a supervisor would wait
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.wanted {
		return
	}
	if err := p.start(); err != nil {
		p.note("it cannot be started: " + err.Error())
	}
}

// note writes a line to the log.
func (p *Process) note(text string) {
	if f, err := os.OpenFile(p.log, os.O_APPEND|os.O_WRONLY, 0); err == nil {
		fmt.Fprintf(f, "--- %s at %s\n", text, time.Now().Format(time.RFC3339Nano))
		f.Close()
	}
}

// PID is the number of the process, 0 where it does not run.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended == nil {
		return 0
	}
	select {
	case <-p.ended:
		return 0
	default:
		return p.cmd.Process.Pid
	}
}

// Starts is how often it was started.
func (p *Process) Starts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.starts
}

// signal sends a signal, and reports false where the process has ended.
func (p *Process) signal(s syscall.Signal) (chan struct{}, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return nil, false
	}
	err := p.cmd.Process.Signal(s)
	return p.ended, err == nil
}

// Crash ends the process with SIGKILL. One that is revived comes again.
func (p *Process) Crash() {
	if ended, ok := p.signal(syscall.SIGKILL); ok {
		<-ended
	}
}

// Kill ends the process with SIGKILL; it stays away until Start.
func (p *Process) Kill() {
	p.mu.Lock()
	p.wanted = false
	p.mu.Unlock()
	p.Crash()
}

// stopLimit is how long a process may take that was asked to end.
const stopLimit = time.Minute

// Stop asks the process to end, with SIGTERM, and waits; it stays away until Start.
func (p *Process) Stop() error {
	p.mu.Lock()
	p.wanted = false
	p.mu.Unlock()
	ended, ok := p.signal(syscall.SIGTERM)
	if !ok {
		return nil
	}
	select {
	case <-ended:
	case <-time.After(stopLimit):
		p.Kill()
		return fmt.Errorf("%s did not end within %v of SIGTERM", p.Name, stopLimit)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%s ended with exit code %d after SIGTERM", p.Name, code)
	}
	return nil
}

// Pause keeps the process from running, with SIGSTOP, until Resume. Its connections
// stay open.
func (p *Process) Pause() { p.signal(syscall.SIGSTOP) }

// Resume lets a paused process run on.
func (p *Process) Resume() { p.signal(syscall.SIGCONT) }

// Log is all that it has written.
func (p *Process) Log() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	return string(text)
}

// tail is the end of the log.
func (p *Process) tail(lines int) string {
	all := strings.Split(strings.TrimRight(p.Log(), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// Shims are the numbers of the shims of this agent's tasks, by task.
func (p *Process) Shims() map[string]int {
	out := map[string]int{}
	folder := filepath.Join(p.Data, "tasks", "tasks") + "/"
	for pid, args := range commandLines() {
		if len(args) == 3 && args[1] == "shim" && strings.HasPrefix(args[2], folder) {
			out[filepath.Base(args[2])] = pid
		}
	}
	return out
}

// SignalShim sends a signal to the shim of a task, and reports whether it was there.
// That the number is still the shim's is made sure.
func (p *Process) SignalShim(task string, s syscall.Signal) bool {
	pid := p.Shims()[task]
	if pid == 0 {
		return false
	}
	handle, err := os.FindProcess(pid) // it has a pidfd, where the kernel knows them
	if err != nil {
		return false
	}
	defer handle.Release()
	if p.Shims()[task] != pid {
		return false
	}
	err = handle.Signal(s)
	return err == nil || !errors.Is(err, os.ErrProcessDone)
}
