package cgroup

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
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestMountPoint(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"the usual place", "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n", "/sys/fs/cgroup"},
		{"beside version 1", "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n" +
			"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup/unified"},
		{"a path with a blank", `41 31 0:38 / /my\040groups rw - cgroup2 none rw`, "/my groups"},
		{"version 1 alone", "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", ""},
		{"no line at all", "", ""},
		{"half a line", "41 31 - cgroup2", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := MountPoint(c.text)
			require.Equal(t, c.want, got)
			require.Equal(t, c.want != "", ok)
		})
	}
}

func TestOwnPath(t *testing.T) {
	require.Equal(t, "/system.slice/x.service", OwnPath("9:cpu:/a\n0::/system.slice/x.service\n"))
	require.Equal(t, "/", OwnPath("0::/\n"))
	require.Equal(t, "", OwnPath("1:cpu:/\n"))
}

// fakeTree is a folder that looks like a hierarchy with these controllers.
func fakeTree(t *testing.T, controllers string) *Tree {
	t.Helper()
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "berth"), filepath.Join(dir, "berth", "shared")} {
		require.NoError(t, os.MkdirAll(path, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(path, "cgroup.controllers"), []byte(controllers+"\n"), 0o644))
	}
	tree, err := Open(Options{Parent: dir, Name: "berth"})
	require.NoError(t, err)
	return tree
}

// TestLimits is what is written for a task, by the controllers that there are.
func TestLimits(t *testing.T) {
	const missing = "(not written)"
	all := Limits{MilliCPU: 2500, Memory: 1 << 30, Processes: 100}
	own := Limits{MilliCPU: 3000, CPUs: []int{0, 1, 4}}
	for _, c := range []struct {
		name, controllers string
		limits            Limits
		files             map[string]string
		lack              []string
	}{
		{"all", "cpuset cpu io memory hugetlb pids", all, map[string]string{
			"cpuset.cpus": missing, "cpu.max": "250000 100000", "memory.max": "1073741824", "memory.oom.group": "1", "pids.max": "100",
		}, nil},
		{"none", "hugetlb", all, map[string]string{
			"cpu.max": missing, "memory.max": missing, "memory.oom.group": missing, "pids.max": missing,
		}, []string{"cpu", "cpuset", "io", "memory", "pids"}},
		{"some", "memory", all, map[string]string{"cpu.max": missing, "memory.max": "1073741824"}, []string{"cpu", "cpuset", "io", "pids"}},
		{"processors of its own", "cpuset cpu io memory pids", own, map[string]string{
			"cpuset.cpus": "0-1,4", "cpu.max": "300000 100000", "memory.max": missing,
		}, nil},
		{"no limits", "cpu cpuset io memory pids", Limits{}, map[string]string{
			"cpu.max": missing, "memory.max": missing, "memory.oom.group": missing, "pids.max": missing,
		}, nil},
		{"less than the kernel takes", "cpu cpuset io memory pids", Limits{MilliCPU: 1}, map[string]string{"cpu.max": "1000 100000"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := fakeTree(t, c.controllers)
			require.Equal(t, c.lack, tree.Missing())
			g, err := tree.Create("1_0.1.0", c.limits)
			require.NoError(t, err)
			for file, want := range c.files {
				got := missing
				if text, err := os.ReadFile(filepath.Join(g.Path(), file)); err == nil {
					got = string(text)
				}
				require.Equal(t, want, got, file)
			}
			_, err = tree.Create("1_0.1.0", c.limits)
			require.ErrorIs(t, err, os.ErrExist, "one group a task")
			names, err := tree.Names()
			require.NoError(t, err)
			require.Equal(t, []string{"1_0.1.0"}, names)
		})
	}
}

// TestNoSwap: where the kernel counts swap, tasks get none.
func TestNoSwap(t *testing.T) {
	g := At(t.TempDir())
	file := filepath.Join(g.Path(), "memory.swap.max")
	require.NoError(t, os.WriteFile(file, []byte("max"), 0o644))
	tree := &Tree{controllers: []string{"memory"}}
	require.NoError(t, tree.limit(g, Limits{Memory: 1}))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "0", string(text))
}

// TestUsage reads what the kernel writes.
func TestUsage(t *testing.T) {
	g := At(t.TempDir())
	require.Equal(t, Usage{}, g.Usage(), "nothing is counted")
	for file, text := range map[string]string{
		"cpu.stat":      "usage_usec 1500000\nuser_usec 1\nsystem_usec 2\n",
		"memory.peak":   "4096\n",
		"io.stat":       "8:0 rbytes=10 wbytes=20 rios=1 wios=2 dbytes=0 dios=0\n8:16 rbytes=1 wbytes=2 rios=1\n",
		"memory.events": "low 0\nhigh 0\nmax 3\noom 1\noom_kill 2\noom_group_kill 1\n",
		"cgroup.events": "populated 1\nfrozen 0\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(g.Path(), file), []byte(text), 0o644))
	}
	require.Equal(t, Usage{CPU: 1500 * time.Millisecond, PeakMemory: 4096, ReadBytes: 11, WriteBytes: 22}, g.Usage())
	require.Equal(t, int64(2), g.OOMKills())
	require.True(t, g.Populated())
}

// TestNow reads what the kernel writes, wherever the group of the task is.
func TestNow(t *testing.T) {
	tree := fakeTree(t, "cpu memory")
	_, _, ok := tree.Now("1_0.1.0")
	require.False(t, ok)
	g, err := tree.Create("1_0.1.0", Limits{})
	require.NoError(t, err)
	for file, text := range map[string]string{
		"cpu.stat": "usage_usec 1500000\n", "memory.current": "4096\n", "memory.stat": "anon 3\ninactive_file 1024\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(g.Path(), file), []byte(text), 0o644))
	}
	cpu, memory, ok := tree.Now("1_0.1.0")
	require.True(t, ok)
	require.Equal(t, 1500*time.Millisecond, cpu)
	require.EqualValues(t, 4096-1024, memory)
	require.NoError(t, os.WriteFile(filepath.Join(g.Path(), "memory.stat"), []byte("inactive_file 9999\n"), 0o644))
	_, memory, _ = tree.Now("1_0.1.0")
	require.Zero(t, memory)
}

// TestUnavailable: the error says why.
func TestUnavailable(t *testing.T) {
	proc := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(proc, "self"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(proc, "self/mountinfo"), nil, 0o644))
	_, err := Open(Options{Proc: proc, Name: "berth"})
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "no cgroup2 file system is mounted")
}

// realTree is a group on this machine's hierarchy, which must be empty in the end.
func realTree(t *testing.T) *Tree {
	t.Helper()
	tree, err := Open(Options{Name: fmt.Sprintf("berth-test-%d", os.Getpid())})
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tree.Remove()) })
	return tree
}

// TestReal makes, kills and removes a group of the kernel's.
func TestReal(t *testing.T) {
	tree := realTree(t)
	t.Logf("controllers %v, missing %v", tree.Controllers(), tree.Missing())
	g, err := tree.Create("1_0.1.0", Limits{MilliCPU: 1000, Memory: 64 << 20, Processes: 50})
	require.NoError(t, err)
	require.False(t, g.Populated())
	folder, err := g.Open()
	require.NoError(t, err)
	defer folder.Close()
	cmd := exec.Command("sh", "-c", "setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' & exec sleep 600")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(folder.Fd())}
	require.NoError(t, cmd.Start())
	for limit := time.Now().Add(time.Minute); len(g.Processes()) < 3; time.Sleep(5 * time.Millisecond) {
		require.True(t, time.Now().Before(limit), "its processes do not come: %v", g.Processes())
	}
	require.True(t, g.Populated())
	// A group that the task made itself goes with it.
	require.NoError(t, os.Mkdir(filepath.Join(g.Path(), "inner"), 0o755))
	require.Error(t, os.Remove(g.Path()))

	require.NoError(t, g.Kill())
	require.Error(t, cmd.Wait())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, g.Clear(ctx))
	require.NoDirExists(t, g.Path())
	require.NoError(t, g.Clear(ctx), "what is not there is clear")
}

// TestOldKernel: without cgroup.kill processes are killed one by one.
func TestOldKernel(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("sleep", "600")
	require.NoError(t, cmd.Start())
	inner := filepath.Join(dir, "inner")
	require.NoError(t, os.Mkdir(inner, 0o755))
	pid := []byte(strconv.Itoa(cmd.Process.Pid) + "\n")
	require.NoError(t, os.WriteFile(filepath.Join(inner, "cgroup.procs"), pid, 0o644))
	require.NoError(t, At(dir).Kill())
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	require.True(t, exit.Sys().(syscall.WaitStatus).Signaled())
}

// FuzzMountPoint: the texts of the kernel have names of others in them.
func FuzzMountPoint(f *testing.F) {
	f.Add(`41 31 0:38 / /my\040groups rw - cgroup2 none rw`)
	f.Add("0::/a - b\n")
	f.Fuzz(func(t *testing.T, text string) {
		path, ok := MountPoint(text)
		if ok && path == "" {
			t.Fatalf("%q: found without a path", text)
		}
		if own := OwnPath(text); strings.Contains(own, "\n") {
			t.Fatalf("%q: more than a line", own)
		}
	})
}

// Groups of tasks are below the group that systemd has delegated, where the agent is in a group "agent" of
// it, and else beside it: in a group above groups of tasks no other agent could be started.
func TestWhereGroupsAre(t *testing.T) {
	for _, c := range []struct{ name, own, delegated, want string }{
		{"below", "/system.slice/berth-agent.service/agent", "/system.slice/berth-agent.service", "/system.slice/berth-agent.service"},
		{"beside", "/system.slice/berth-agent.service", "/system.slice/berth-agent.service", "/system.slice"},
		{"in its own, at the top", "/berth", "/berth", "/berth"},
		{"not delegated", "/system.slice/berth-agent.service", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			proc, mount := t.TempDir(), t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(mount, c.own), 0o755))
			if err := unix.Setxattr(filepath.Join(mount, c.delegated), "user.delegate", []byte("1"), 0); c.delegated != "" && err != nil {
				t.Skipf("the file system of temporary files has no attributes: %v", err)
			}
			require.NoError(t, os.Mkdir(filepath.Join(proc, "self"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(proc, "self/mountinfo"), []byte("30 1 0:26 / "+mount+" rw - cgroup2 cgroup2 rw\n"), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(proc, "self/cgroup"), []byte("0::"+c.own+"\n"), 0o644))
			parent, err := findParent(proc)
			require.NoError(t, err)
			require.Equal(t, filepath.Join(mount, c.want), parent)
		})
	}
}
