package daemon

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/agent/shim"
)

// The agent starts this program again as a shim.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "shim" {
		// os.Exit would wait a second for the race detector.
		syscall.Exit(shim.Main(os.Args[2]))
	}
	os.Exit(m.Run())
}

// What a command of "dev" writes is where it was called.
func TestDevRunsHere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := DevCommand("test")
	command.SetOut(io.Discard)
	command.SetArgs([]string{"--", "sh", "-c", `echo result > out-$SLURM_JOB_ID.txt; test "$SLURM_SUBMIT_DIR" = "$PWD"`})
	require.NoError(t, command.ExecuteContext(ctx))
	text, err := os.ReadFile("out-1.txt")
	require.NoError(t, err)
	require.Equal(t, "result\n", string(text))
}

func TestDevRunsACommand(t *testing.T) {
	for _, c := range []struct {
		name, script, want string
		code               int
	}{
		{"that succeeds", "echo hello", "hello\n", 0},
		{"that fails", "echo no; exit 3", "no\n", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var out bytes.Buffer
			command := DevCommand("test")
			command.SilenceErrors, command.SilenceUsage = true, true
			command.SetOut(&out)
			command.SetArgs([]string{"--", "sh", "-c", c.script})
			err := command.ExecuteContext(ctx)
			require.Equal(t, c.want, out.String())
			if c.code == 0 {
				require.NoError(t, err)
				return
			}
			var exit ExitError
			require.ErrorAs(t, err, &exit)
			require.Equal(t, c.code, exit.ExitCode())
		})
	}
}

// A program that is missing has a shell's exit code for that, with the reason.
func TestDevWithoutTheProgram(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := DevCommand("test")
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetArgs([]string{"--", "berth-no-such-program"})
	err := command.ExecuteContext(ctx)
	var exit ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 127, exit.ExitCode())
	require.ErrorContains(t, err, "berth-no-such-program")
}

// When it is interrupted, its tasks end before it does.
func TestDevEndsItsTasks(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	ended := filepath.Join(dir, "ended")
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "began"), 0o600))
	command := DevCommand("test")
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetArgs([]string{"--", "sh", "-c", "trap 'echo > " + ended + "; exit' TERM; echo > " + dir + "/began; while :; do sleep 0.1; done"})
	done := make(chan error, 1)
	go func() { done <- command.ExecuteContext(ctx) }()
	_, err := os.ReadFile(filepath.Join(dir, "began")) // waits for it
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.FileExists(t, ended)
}

// Without a command it says how it is reached, stays until it is interrupted, and
// leaves what is needed in its folder.
func TestDevStays(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o711))
	said := &firstWrite{done: cancel}
	command := DevCommand("test")
	command.SetOut(said)
	command.SetArgs([]string{"--data", dir})
	require.NoError(t, command.ExecuteContext(ctx))
	require.Contains(t, said.String(), "export BERTH_CONFIG="+dir+"/config.yaml")
	require.FileExists(t, dir+"/config.yaml")
	require.FileExists(t, dir+"/server/admin.pem")
}

// A folder that is used again has its node at once: it is where it was.
func TestDevAgain(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o711))
	var addresses []string
	for range 2 {
		command := DevCommand("test")
		command.SetOut(&bytes.Buffer{})
		command.SetArgs([]string{"--data", dir, "--", "true"})
		require.NoError(t, command.ExecuteContext(ctx))
		address, err := os.ReadFile(dir + "/agent/address")
		require.NoError(t, err)
		addresses = append(addresses, string(address))
	}
	require.Equal(t, addresses[0], addresses[1])
}

// firstWrite keeps what is written, and tells of the first.
type firstWrite struct {
	bytes.Buffer
	done func()
}

func (w *firstWrite) Write(p []byte) (int, error) {
	defer w.done()
	return w.Buffer.Write(p)
}
