package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// run runs the hook with the environment env. The error says how it failed, with the
// last line that it wrote. When ctx ends it is killed.
func (h Hook) run(ctx context.Context, env []string) error {
	if len(h.Command) == 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, h.Limit)
	defer cancel()
	cmd := exec.CommandContext(limited, h.Command[0], h.Command[1:]...)
	cmd.Env, cmd.Dir = env, "/"
	out := &tail{}
	cmd.Stdout, cmd.Stderr = out, out
	// All that it started is killed with it, and it dies with the agent: the next
	// agent runs it again.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	// What it left in the background may hold the pipe.
	cmd.WaitDelay = time.Second

	// The kernel means the death of the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return fmt.Errorf("%s took longer than %v and was killed", h.Command[0], h.Limit)
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return nil
	}
	if line := out.lastLine(); line != "" {
		return fmt.Errorf("%s: %w: %s", h.Command[0], err, line)
	}
	return fmt.Errorf("%s: %w", h.Command[0], err)
}

// tailBytes is how much is kept of what a hook writes.
const tailBytes = 1 << 10

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailBytes; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(p), nil
}

func (t *tail) lastLine() string {
	text := bytes.TrimSpace(t.text)
	line := text[bytes.LastIndexByte(text, '\n')+1:]
	return strings.ToValidUTF8(string(line), "?")
}
