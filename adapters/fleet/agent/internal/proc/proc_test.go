package proc

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseStat(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Stat
		bad        bool
	}{
		{"the usual", "17 (sh) S 1 17 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 5 6", Stat{PID: 17, Parent: 1, Session: 12, State: 'S', Start: 4242}, false},
		{"a name that tries", "17 (a) R 9 (b) c) Z 1 17 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 5 6", Stat{PID: 17, Parent: 1, Session: 12, State: 'Z', Start: 4242}, false},
		{"nothing", "", Stat{}, true},
		{"no brackets", "17 sh S 1", Stat{}, true},
		{"cut off", "17 (sh) S 1 17 12", Stat{}, true},
		{"no number", "x (sh) S 1 17 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 5 6", Stat{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseStat([]byte(c.text))
			if c.bad {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("17 (a) R 9 (b) c) Z 1 17 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 5 6"))
	f.Add([]byte(") ("))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseStat(text)
		if err == nil && (s.PID <= 0 || s.Parent < 0) {
			t.Fatalf("%q: a process %+v", text, s)
		}
	})
}

// start starts a shell script that is killed with the test, and waits for the line
// that it writes.
func start(t *testing.T, env []string, script string) (cmd *exec.Cmd, line string) {
	t.Helper()
	cmd = exec.Command("sh", "-c", script)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	buf := make([]byte, 100)
	n, err := out.Read(buf)
	require.NoError(t, err)
	return cmd, strings.TrimSpace(string(buf[:n]))
}

// TestDescendants: the lists of the kernel and the scan find the same.
func TestDescendants(t *testing.T) {
	cmd, line := start(t, nil, "sh -c 'sleep 600 & echo $!; exec sleep 600' & wait")
	grandchild, err := strconv.Atoi(line)
	require.NoError(t, err)
	t.Cleanup(func() {
		for _, pid := range Descendants(cmd.Process.Pid) {
			Kill(pid, func(int) bool { return true })
		}
	})
	fast, slow := Descendants(cmd.Process.Pid), descendantsByScan(cmd.Process.Pid)
	slices.Sort(fast)
	slices.Sort(slow)
	require.Equal(t, slow, fast)
	require.Len(t, fast, 2)
	require.Contains(t, fast, grandchild)
	require.Positive(t, AnonymousBytes(os.Getpid()))
}

// TestLeftovers: those with the mark and those of the session are found and killed,
// others are not.
func TestLeftovers(t *testing.T) {
	mark := "BERTH_TASK_DIR=/test/" + strconv.Itoa(os.Getpid())
	marked, _ := start(t, []string{mark}, "echo ready; while :; do sleep 1; done")
	other, _ := start(t, []string{mark + "0", "X=" + mark}, "echo ready; while :; do sleep 1; done")
	unmarked, line := start(t, nil, "setsid env -i /bin/sh -c 'echo $$; while :; do sleep 1; done'")
	session, err := strconv.Atoi(line)
	require.NoError(t, err)
	stat, err := Read(session)
	require.NoError(t, err)

	reused := Leftovers{Mark: mark, Session: session, Start: stat.Start + 1}
	require.NotContains(t, reused.Find(), session, "the number is another's by now")

	l := Leftovers{Mark: mark, Session: session, Start: stat.Start}
	found := l.Find()
	require.Contains(t, found, marked.Process.Pid)
	require.Contains(t, found, session)
	require.NotContains(t, found, other.Process.Pid)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, l.Kill(ctx))
	require.Empty(t, l.Find())
	require.Error(t, marked.Wait())
	unmarked.Wait()
	_, err = os.Stat("/proc/" + strconv.Itoa(other.Process.Pid))
	require.NoError(t, err)
}

func TestBootID(t *testing.T) {
	id, err := BootID()
	require.NoError(t, err)
	require.Len(t, id, 36)
}
