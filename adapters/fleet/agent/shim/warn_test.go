package shim

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWarning: the signal before the time limit goes to the processes that it is for. The
// shell acts on it when its child has ended, and the child ends by it or when it reads
// nothing more.
func TestWarning(t *testing.T) {
	const text = `
		trap 'echo shell' USR1
		sh -c 'trap "echo child; exit" USR1; echo ready; read x; echo unharmed'
		echo end`
	for _, c := range []struct {
		to   WarnTo
		want string
	}{
		{WarnFirst, "unharmed\nshell\nend\n"},
		{WarnOthers, "child\nend\n"},
		{WarnAll, "child\nshell\nend\n"},
	} {
		t.Run(string(c.to), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", text)
			input, err := cmd.StdinPipe()
			require.NoError(t, err)
			pipe, err := cmd.StdoutPipe()
			require.NoError(t, err)
			cmd.Stderr = os.Stderr
			require.NoError(t, cmd.Start())
			output := bufio.NewReader(pipe)
			line, err := output.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, "ready\n", line)

			s := newSupervisor(Task{WarnSignal: "USR1", WarnTo: c.to})
			s.family = &family{first: cmd.Process.Pid}
			s.sendWarning()
			require.NoError(t, input.Close())
			rest, err := io.ReadAll(output)
			require.NoError(t, err)
			require.Equal(t, c.want, string(rest))
			require.NoError(t, cmd.Wait())
			require.False(t, s.unheard)
		})
	}
}

// TestWarningOfAShellAlone: where there is nobody to get it, people are told.
func TestWarningOfAShellAlone(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "read x; echo end")
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	s := newSupervisor(Task{WarnSignal: "USR1", WarnTo: WarnOthers})
	s.family = &family{first: cmd.Process.Pid}
	s.sendWarning()
	require.NoError(t, input.Close())
	require.NoError(t, cmd.Wait())
	require.True(t, s.unheard)
}
