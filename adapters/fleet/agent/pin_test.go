package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// TestPins: whole cores are the task's own, and all else is shared.
func TestPins(t *testing.T) {
	b := newBoard(t, 8)
	require.Equal(t, "0-7", b.shared())
	require.Equal(t, "0-1", b.run(1, 2000))
	require.Equal(t, "2-7", b.shared())
	require.Equal(t, "shared", b.run(2, 2500), "a fraction")
	require.Equal(t, "shared", b.run(3, 0), "nothing asked for")
	require.Equal(t, "2-5", b.run(4, 4000))
	require.Equal(t, "6-7", b.shared())
	require.Equal(t, "shared", b.run(5, 2000), "none would be left to share")
	require.Equal(t, "6", b.run(6, 1000))
	require.Equal(t, "7", b.shared())
	require.Equal(t, "shared", b.run(7, 1000))
	require.Equal(t, "shared", b.run(8, 99_000), "more than there are")
	b.end(1)
	require.Equal(t, "0-1,7", b.shared())
	require.Equal(t, "0-1", b.run(9, 2000))
	for _, n := range []int{2, 3, 4, 5, 6, 7, 8, 9} {
		b.end(n)
	}
	require.Equal(t, "0-7", b.shared())
}

// TestPinsAfterRestart: the next agent finds who owns what, also where it gives no
// processors away itself.
func TestPinsAfterRestart(t *testing.T) {
	b := newBoard(t, 8)
	require.Equal(t, "0-1", b.run(1, 2000))
	require.Equal(t, "2-3", b.run(2, 2000))
	b.start()
	require.Equal(t, "4-7", b.shared())
	require.Equal(t, "4-5", b.run(3, 2000))
	b.end(1)
	b.start()
	b.pins.share = true // pinCores: false
	require.Equal(t, "shared", b.run(4, 1000))
	require.Equal(t, "0-1,6-7", b.shared(), "who owns processors keeps them")
	b.end(2)
	b.end(3)
	require.Equal(t, "0-7", b.shared())
}

// TestPinsAfterCrash: an agent was killed between two steps. The next one leaves no
// processor unused, and gives none to two tasks.
func TestPinsAfterCrash(t *testing.T) {
	group := func(b *board, n int, cpus string) {
		dir := filepath.Join(b.dir, taskID(n).String())
		require.NoError(t, os.Mkdir(dir, 0o755))
		if cpus != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "cpuset.cpus"), []byte(cpus), 0o644))
		}
	}
	for _, c := range []struct {
		name   string
		done   func(*board) // task 1 owns 0 and 1 before
		shared string
		next   string // of a task that asks for two
	}{
		{"before anything", func(*board) {}, "2-7", "2-3"},
		{"a group was made", func(b *board) { group(b, 2, "") }, "2-7", "2-3"},
		{"it owns processors that are still shared", func(b *board) { group(b, 2, "2-3") }, "4-7", "4-5"},
		{"they are not shared any more", func(b *board) {
			group(b, 2, "2-3")
			require.NoError(t, b.pins.tree.Share([]int{4, 5, 6, 7}))
		}, "4-7", "4-5"},
		{"a group was removed, and nobody shares what it owned", func(b *board) { b.remove(1) }, "0-7", "0-1"},
		{"the shared group has nothing yet, as after a boot", func(b *board) {
			require.NoError(t, os.Remove(filepath.Join(b.dir, "shared", "cpuset.cpus")))
		}, "2-7", "2-3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBoard(t, 8)
			require.Equal(t, "0-1", b.run(1, 2000))
			c.done(b)
			b.start()
			require.Equal(t, c.shared, b.shared())
			require.Equal(t, c.next, b.run(9, 2000))
		})
	}
}

// TestPinsFail: where the groups cannot be read, or what is shared cannot be changed, a
// task shares rather than fails, and owns nothing.
func TestPinsFail(t *testing.T) {
	b := newBoard(t, 4)
	require.Equal(t, "0", b.run(1, 1000))
	damaged := filepath.Join(b.dir, taskID(1).String(), "cpuset.cpus")
	require.NoError(t, os.WriteFile(damaged, []byte("?"), 0o644))
	require.Equal(t, "shared", b.run(2, 1000))
	require.Equal(t, "1-3", b.shared())
	require.NoError(t, os.Remove(filepath.Join(b.dir, "cpuset.cpus.effective")))
	require.Equal(t, "shared", b.run(3, 1000))
	require.Equal(t, "1-3", b.shared())
}

// TestPinsOffLine: what is not on line is nobody's, and those that share have something
// to run on even when owners have all that is left.
func TestPinsOffLine(t *testing.T) {
	b := newBoard(t, 4)
	b.allow(0, 2, 3)
	require.Equal(t, "0", b.run(1, 1000))
	b.pins.settle()
	require.Equal(t, "2-3", b.shared())
	b.allow(0)
	b.pins.settle()
	require.Equal(t, "0", b.shared())
	b.allow(0, 1, 2, 3)
	b.pins.settle()
	require.Equal(t, "1-3", b.shared())
}

// TestLingeringGroup: processors come back when the group goes, also where that is long
// after the end of its task, and not before.
func TestLingeringGroup(t *testing.T) {
	b := newBoard(t, 4)
	a, err := New(testConfig(t, t.TempDir(), newServer()))
	require.NoError(t, err)
	a.folders, err = openFolders(t.Context(), a.cfg.DataDir)
	require.NoError(t, err)
	defer a.folders.close()
	a.tree, a.pins = b.pins.tree, b.pins
	for _, n := range []int{1, 2} {
		b.run(n, 1000)
	}
	require.NoError(t, a.folders.writeReport(api.Report{Task: taskID(1), State: job.Completed, At: time.Now()}))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, a.clearLingering(canceled), "something of it is left")
	require.Equal(t, "2-3", b.shared())

	// A folder without files can be removed, as a group of the kernel's without processes.
	b.remove(1)
	group, running := filepath.Join(b.dir, taskID(1).String()), filepath.Join(b.dir, taskID(3).String())
	require.NoError(t, os.Mkdir(group, 0o755))
	require.NoError(t, os.Mkdir(running, 0o755))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { a.sweep(ctx); close(ended) }()
	eventually(t, "what the task owned", func() bool { return b.shared() == "0,2-3" })
	stop()
	<-ended
	require.NoDirExists(t, group)
	require.DirExists(t, running, "there is no report of its end")
}

// TestPinSettings: cores are pinned where there is a controller for it, unless the
// operator says no; where there is none, the node says so, unless nobody wants it.
func TestPinSettings(t *testing.T) {
	for _, c := range []struct {
		name, controllers string
		off               bool
		owns, warns       bool
	}{
		{"as it comes", "cpu cpuset memory", false, true, false},
		{"turned off", "cpu cpuset memory", true, false, false},
		{"no controller", "cpu memory", false, false, true},
		{"no controller, and turned off", "cpu memory", true, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBoard(t, 2)
			cfg := testConfig(t, t.TempDir(), newServer())
			// The real machine may have one processor only.
			cfg.Machine.Proc, cfg.Machine.Sys = recorded(t, "twosocket")
			cfg.Cgroup, cfg.NoPinning = filepath.Dir(b.dir), c.off
			a, err := New(cfg)
			require.NoError(t, err)
			b.dir = filepath.Join(cfg.Cgroup, cfg.groupName())
			b.prepare(c.controllers)
			b.allow(0, 1, 2, 3)
			a.openTree()
			m, err := a.readMachine(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.warns, slices.Contains(m.Warnings, withoutController["cpuset"]), m.Warnings)
			b.pins = a.pins
			require.Equal(t, c.owns, b.run(1, 1000) != "shared")
		})
	}
}

// recorded is a machine of package fingerprint's.
func recorded(t *testing.T, name string) (proc, sys string) {
	base, err := filepath.Abs(filepath.Join("fingerprint/testdata", name))
	require.NoError(t, err)
	return filepath.Join(base, "proc"), filepath.Join(base, "sys")
}
