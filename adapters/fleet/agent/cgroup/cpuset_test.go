package cgroup

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/agent/cpuset"
)

// write makes the text of a file of a group, as the kernel does.
func write(t *testing.T, path ...string) {
	t.Helper()
	last := len(path) - 1
	require.NoError(t, os.WriteFile(filepath.Join(path[:last]...), []byte(path[last]+"\n"), 0o644))
}

// TestWhoOwnsWhat: it is read from the groups, and from nothing else.
func TestWhoOwnsWhat(t *testing.T) {
	tree := fakeTree(t, "cpuset cpu")
	require.True(t, tree.Pins())
	write(t, tree.path, "cpuset.cpus.effective", "0-7")
	owned := func() string {
		t.Helper()
		cpus, err := tree.Owned()
		require.NoError(t, err)
		return cpuset.FormatList(cpus)
	}
	require.Empty(t, owned())
	_, err := tree.Create("1_0.1.0", Limits{MilliCPU: 2000, CPUs: []int{0, 4}})
	require.NoError(t, err)
	_, err = tree.Create("2_0.1.0", Limits{MilliCPU: 1500})
	require.NoError(t, err)
	require.NoError(t, tree.Share([]int{1, 2, 3, 5, 6, 7}))
	require.Equal(t, "0,4", owned(), "what is shared is nobody's")
	allowed, err := tree.Allowed()
	require.NoError(t, err)
	require.Len(t, allowed, 8)
	names, err := tree.Names()
	require.NoError(t, err)
	require.Equal(t, []string{"1_0.1.0", "2_0.1.0"}, names)
	for name, l := range map[string]Limits{"1_0.1.0": {}, "2_0.1.0": {CPUs: []int{7}}} {
		_, err = tree.Create(name, l)
		require.ErrorIs(t, err, os.ErrExist, "one group a task, wherever it is")
	}

	require.NoError(t, os.Mkdir(filepath.Join(tree.path, "3_0.1.0"), 0o755))
	require.Equal(t, "0,4", owned(), "a group that is being made or removed has nothing")
	write(t, tree.path, "3_0.1.0", "cpuset.cpus", "damaged")
	_, err = tree.Owned()
	require.ErrorContains(t, err, "3_0.1.0", "what cannot be read may be owned")
}

// TestShare: shared tasks are never left with nothing, which the kernel takes for all.
func TestShare(t *testing.T) {
	tree := fakeTree(t, "cpuset")
	path := filepath.Join(tree.path, "shared", "cpuset.cpus")
	require.NoError(t, tree.Share([]int{2, 1}))
	require.Error(t, tree.Share(nil))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "1-2", string(text))
	write(t, path, "1-2") // with a line's end, as the kernel gives it back
	require.NoError(t, tree.Share([]int{1, 2}))
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "1-2\n", string(text), "it was so already, and is not written again")
	require.False(t, fakeTree(t, "cpu memory").Pins())
}

// TestRealProcessors: the kernel keeps tasks where they belong, and those that share
// follow while they run.
func TestRealProcessors(t *testing.T) {
	tree := realTree(t)
	if !tree.Pins() {
		t.Skipf("there is no cpuset controller here: %v", tree.Controllers())
	}
	all, err := tree.Allowed()
	require.NoError(t, err)
	if len(all) < 2 {
		t.Skip("there is one processor only")
	}
	own, err := tree.Create("1_0.1.0", Limits{CPUs: all[:1]})
	require.NoError(t, err)
	sharing, err := tree.Create("2_0.1.0", Limits{})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for _, name := range []string{"1_0.1.0", "2_0.1.0"} {
			require.NoError(t, tree.Clear(ctx, name))
		}
	})
	ask, askShared := allowedIn(t, own), allowedIn(t, sharing)
	require.Equal(t, cpuset.FormatList(all[:1]), ask())
	require.Equal(t, cpuset.FormatList(all), askShared())
	require.NoError(t, tree.Share(all[1:]))
	require.Equal(t, cpuset.FormatList(all[1:]), askShared())
	require.Equal(t, cpuset.FormatList(all[:1]), ask())
	owned, err := tree.Owned()
	require.NoError(t, err)
	require.Equal(t, all[:1], owned)
}

// allowedIn starts a process in a group, and returns what asks it where it may run.
func allowedIn(t *testing.T, g *Group) func() string {
	t.Helper()
	folder, err := g.Open()
	require.NoError(t, err)
	defer folder.Close()
	cmd := exec.Command("sh", "-c", "while read line; do grep Cpus_allowed_list /proc/self/status; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(folder.Fd())}
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		require.NoError(t, cmd.Wait())
	})
	lines := bufio.NewReader(out)
	return func() string {
		t.Helper()
		_, err := in.Write([]byte("\n"))
		require.NoError(t, err)
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		return strings.TrimSpace(strings.TrimPrefix(line, "Cpus_allowed_list:"))
	}
}
