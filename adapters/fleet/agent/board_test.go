package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
	"github.com/berth-project/berth/adapters/fleet/agent/cpuset"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// board is a folder that looks like a hierarchy of control groups with a cpuset
// controller, on a machine of some processors.
type board struct {
	t    *testing.T
	dir  string // the group of all tasks' groups
	all  []cpuset.Processor
	pins *pins // the agent's
}

// newBoard is a machine of one node with siblings side by side: 0 1, 2 3, ...
func newBoard(t *testing.T, processors int) *board {
	t.Helper()
	var all []cpuset.Processor
	for id := range processors {
		all = append(all, cpuset.Processor{ID: id, Core: id / 2})
	}
	return newBoardOf(t, all)
}

func newBoardOf(t *testing.T, all []cpuset.Processor) *board {
	t.Helper()
	b := &board{t: t, dir: filepath.Join(t.TempDir(), "berth"), all: all}
	b.prepare("cpuset cpu memory")
	b.allow(numbers(all)...)
	b.start()
	return b
}

func numbers(all []cpuset.Processor) (ids []int) {
	for _, p := range all {
		ids = append(ids, p.ID)
	}
	return ids
}

// prepare makes the groups that are there before any task.
func (b *board) prepare(controllers string) {
	b.t.Helper()
	for _, dir := range []string{filepath.Dir(b.dir), b.dir, filepath.Join(b.dir, "shared")} {
		require.NoError(b.t, os.MkdirAll(dir, 0o755))
		require.NoError(b.t, os.WriteFile(filepath.Join(dir, "cgroup.controllers"), []byte(controllers+"\n"), 0o644))
	}
}

// allow says which processors are on line.
func (b *board) allow(cpus ...int) {
	b.t.Helper()
	file := filepath.Join(b.dir, "cpuset.cpus.effective")
	require.NoError(b.t, os.WriteFile(file, []byte(cpuset.FormatList(cpus)+"\n"), 0o644))
}

// start is an agent's: it knows nothing of those before it.
func (b *board) start() {
	b.t.Helper()
	tree, err := cgroup.Open(cgroup.Options{Parent: filepath.Dir(b.dir), Name: filepath.Base(b.dir)})
	require.NoError(b.t, err)
	b.pins = &pins{tree: tree, log: hclog.NewNullLogger()}
	b.pins.look(b.all)
}

// run makes the group of a task, and says which processors it has: "shared" is none.
func (b *board) run(n int, cpu job.MilliCPU) string {
	b.t.Helper()
	g, err := b.pins.create(taskID(n).String(), cgroup.Limits{MilliCPU: int64(cpu), Memory: 1 << 20})
	require.NoError(b.t, err)
	require.FileExists(b.t, filepath.Join(g.Path(), "memory.max"), "what else limits it holds in any case")
	if cpu > 0 {
		require.FileExists(b.t, filepath.Join(g.Path(), "cpu.max"))
	}
	if filepath.Base(filepath.Dir(g.Path())) == "shared" {
		require.NoFileExists(b.t, filepath.Join(g.Path(), "cpuset.cpus"), "it has what the group above has")
		return "shared"
	}
	return b.cpus(taskID(n).String())
}

// cpus is what a group may run on.
func (b *board) cpus(group string) string {
	text, err := os.ReadFile(filepath.Join(b.dir, group, "cpuset.cpus"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func (b *board) shared() string { return b.cpus("shared") }

// remove removes a task's group as the kernel does: with its files.
func (b *board) remove(n int) {
	b.t.Helper()
	require.NoError(b.t, os.RemoveAll(filepath.Join(b.dir, taskID(n).String())))
	require.NoError(b.t, os.RemoveAll(filepath.Join(b.dir, "shared", taskID(n).String())))
}

// end is the end of a task.
func (b *board) end(n int) {
	b.t.Helper()
	b.remove(n)
	b.pins.settle()
}

// owned is what all tasks own, as it is written.
func (b *board) owned() (owned []int) {
	b.t.Helper()
	groups, err := filepath.Glob(filepath.Join(b.dir, "*_*", "cpuset.cpus"))
	require.NoError(b.t, err)
	for _, path := range groups {
		cpus, err := cpuset.ParseList(b.cpus(filepath.Base(filepath.Dir(path))))
		require.NoError(b.t, err)
		owned = append(owned, cpus...)
	}
	slices.Sort(owned)
	return owned
}

// check checks what holds after each step.
func (b *board) check(on []int) {
	b.t.Helper()
	owned := b.owned()
	require.Equal(b.t, owned, slices.Compact(slices.Clone(owned)), "two tasks own a processor")
	free := slices.DeleteFunc(slices.Clone(on), func(id int) bool { return slices.Contains(owned, id) })
	if len(free) == 0 {
		free = on
	}
	require.Equal(b.t, cpuset.FormatList(free), b.shared(), "of %v, and %v are owned", on, owned)
}
