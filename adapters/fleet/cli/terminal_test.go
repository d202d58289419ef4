package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// terminal runs a command on a terminal of its own, 80 by 10 characters, and
// returns what it wrote. The command is broken off at its n-th pause.
func (e *environment) terminal(t *testing.T, pauses int, args ...string) (code int, out string) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %s", err)
	}
	defer master.Close()
	fd := int(master.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 10, Col: 80}))

	read := make(chan string)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, master) // ends with an error when the other end is closed
		read <- b.String()
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := &app{
		version: "1.2.3", getenv: func(name string) string { return e.vars[name] }, patience: -1,
		now: func() time.Time { return now },
		pause: func(context.Context, time.Duration) error {
			if pauses--; pauses <= 0 {
				cancel()
			}
			return ctx.Err()
		},
	}
	c := newCommand(a, nil)
	c.SetOut(tty)
	c.SetErr(tty)
	c.SetArgs(args)
	code = Execute(ctx, c)
	require.NoError(t, tty.Close())
	return code, <-read
}

func TestTopOnATerminal(t *testing.T) {
	e := newEnvironment(t)
	code, out := e.terminal(t, 2, "top")
	assert.Zero(t, code)
	assert.Equal(t, 2, e.looks["GET /v1/server/status"])
	assert.Regexp(t, `^\x1b\[\?1049h\x1b\[\?25l\x1b\[H`, out)
	assert.Regexp(t, `\x1b\[\?25h\x1b\[\?1049l$`, out, "the terminal is left as it was")
	assert.Contains(t, out, "\x1b[32mREADY\x1b[0m")
	assert.NotContains(t, out, "größte", "there is no room for it")

	// A fleet that cannot be reached may come back; a token does not become right.
	e.vars["BERTH_ADDR"] = "127.0.0.1:1"
	code, out = e.terminal(t, 2, "top")
	assert.Zero(t, code)
	assert.Contains(t, out, "no server can be reached")

	code, _ = e.terminal(t, 2, "top", "--addr", e.addr, "--token-file", e.write(t, "wrong", "x", 0o600))
	assert.Equal(t, ExitNotAllowed, code)

	code, _ = e.terminal(t, 2, "top", "--every", "1ms")
	assert.Equal(t, ExitUsage, code)
}

func TestColoursOnATerminal(t *testing.T) {
	e := newEnvironment(t)
	_, out := e.terminal(t, 1, "jobs")
	assert.Contains(t, out, "\x1b[31mFAILED\x1b[0m")
	assert.NotContains(t, out, "\x1b]0;owned")

	e.vars["NO_COLOR"] = "1"
	_, out = e.terminal(t, 1, "jobs")
	assert.Contains(t, out, "FAILED")
	assert.NotContains(t, out, "\x1b")
}

func TestLogsOnATerminal(t *testing.T) {
	e := newEnvironment(t)
	_, out := e.terminal(t, 1, "logs", "18")
	assert.Equal(t, "\x1b[31mred\x1b[0m\\x1b[2J\r\n", out, "colours are left, the screen is not cleared")
	_, out = e.terminal(t, 1, "logs", "--raw", "18")
	assert.Equal(t, "\x1b[31mred\x1b[0m\x1b[2J\r\n", out)
}

// On a terminal a wait says how the job stands, once for each change.
func TestProgressOnATerminal(t *testing.T) {
	e := newEnvironment(t)
	code, out := e.terminal(t, 100, "wait", "40")
	assert.Equal(t, 7, code)
	assert.Equal(t, "job 40: PENDING\r\njob 40: RUNNING\r\njob 40: FAILED\r\nberth: job 40 has ended as FAILED, its exit code is 7\r\n", out)
}
