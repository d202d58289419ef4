package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/cpuset"
)

// Limits are what a task may use. A value of 0 is no limit.
type Limits struct {
	MilliCPU  int64 // thousandths of a core
	Memory    int64 // bytes
	Processes int64 // processes and threads
	// CPUs are the processors that it has to itself, where the Tree Pins. None: it runs
	// on those that are shared.
	CPUs []int
}

// Usage is what the processes of a group have used. What is not counted is 0.
type Usage struct {
	CPU                   time.Duration // of all processors together
	PeakMemory            int64         // bytes
	ReadBytes, WriteBytes int64         // from and to disks
}

// Group is the control group of one task. Its methods may be called by several
// goroutines and processes.
type Group struct {
	path string
}

// At returns the group whose folder is path.
func At(path string) *Group { return &Group{path: path} }

// places are where the group of the task name may be: as one with processors of its own,
// and as one that shares them.
func (t *Tree) places(name string) (own, sharing *Group) {
	return At(filepath.Join(t.path, name)), At(filepath.Join(t.path, sharedGroup, name))
}

// Create makes the group of the task name, one part of a path, and limits it by the
// controllers that there are. There must be none of that name: what it has would be
// mixed up.
func (t *Tree) Create(name string, l Limits) (*Group, error) {
	own, sharing := t.places(name)
	g, other := sharing, own
	if len(l.CPUs) > 0 {
		g, other = own, sharing
	}
	if _, err := os.Lstat(other.path); err == nil {
		return nil, &os.PathError{Op: "mkdir", Path: other.path, Err: fs.ErrExist}
	}
	if err := os.Mkdir(g.path, 0o755); err != nil {
		return nil, err
	}
	if err := t.limit(g, l); err != nil {
		return nil, errors.Join(err, os.Remove(g.path))
	}
	return g, nil
}

// Clear clears the group of the task name, which may not be there.
func (t *Tree) Clear(ctx context.Context, name string) error {
	own, sharing := t.places(name)
	return errors.Join(own.Clear(ctx), sharing.Clear(ctx))
}

// cpuPeriod is the time over which cpu.max counts. The kernel's own default.
const cpuPeriod = 100_000 // microseconds

func (t *Tree) limit(g *Group, l Limits) error {
	type setting struct{ controller, file, value string }
	var settings []setting
	if len(l.CPUs) > 0 {
		settings = append(settings, setting{"cpuset", cpusFile, cpuset.FormatList(l.CPUs)})
	}
	if l.MilliCPU > 0 {
		// The kernel takes no quota below a millisecond.
		quota := max(l.MilliCPU*cpuPeriod/1000, 1000)
		settings = append(settings, setting{"cpu", "cpu.max", fmt.Sprintf("%d %d", quota, cpuPeriod)})
	}
	if l.Memory > 0 {
		settings = append(settings,
			setting{"memory", "memory.max", strconv.FormatInt(l.Memory, 10)},
			setting{"memory", "memory.oom.group", "1"})
	}
	if l.Processes > 0 {
		settings = append(settings, setting{"pids", "pids.max", strconv.FormatInt(l.Processes, 10)})
	}
	for _, s := range settings {
		if !slices.Contains(t.controllers, s.controller) {
			continue
		}
		if err := g.write(s.file, s.value); err != nil {
			return err
		}
	}
	if l.Memory > 0 && slices.Contains(t.controllers, "memory") {
		return g.writeWhereThere("memory.swap.max", "0")
	}
	return nil
}

// Path is the folder of the group.
func (g *Group) Path() string { return g.path }

// Open opens the group's folder, to start a process in it (SysProcAttr.CgroupFD).
func (g *Group) Open() (*os.File, error) {
	return os.OpenFile(g.path, os.O_RDONLY|unix.O_DIRECTORY, 0)
}

func (g *Group) write(file, value string) error {
	return os.WriteFile(filepath.Join(g.path, file), []byte(value), 0o644)
}

// writeWhereThere leaves out a file that this kernel does not have: without swap
// accounting there is none for swap.
func (g *Group) writeWhereThere(file, value string) error {
	if _, err := os.Stat(filepath.Join(g.path, file)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return g.write(file, value)
}

// Processes are the processes in the group.
func (g *Group) Processes() []int {
	var pids []int
	for _, w := range readWords(filepath.Join(g.path, "cgroup.procs")) {
		if pid, err := strconv.Atoi(w); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Populated reports whether there are living processes in the group or in a group
// below it.
func (g *Group) Populated() bool { return g.flat("cgroup.events")["populated"] == 1 }

// OOMKills is how many processes were killed because the group's memory ran out.
func (g *Group) OOMKills() int64 { return g.flat("memory.events")["oom_kill"] }

// Usage is what was used so far.
func (g *Group) Usage() Usage {
	u := Usage{CPU: time.Duration(g.flat("cpu.stat")["usage_usec"]) * time.Microsecond}
	if w := readWords(filepath.Join(g.path, "memory.peak")); len(w) == 1 {
		u.PeakMemory, _ = strconv.ParseInt(w[0], 10, 64)
	}
	for _, w := range readWords(filepath.Join(g.path, "io.stat")) {
		key, value, _ := strings.Cut(w, "=")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch key {
		case "rbytes":
			u.ReadBytes += n
		case "wbytes":
			u.WriteBytes += n
		}
	}
	return u
}

// flat reads a file of lines "key number".
func (g *Group) flat(file string) map[string]int64 {
	text, err := os.ReadFile(filepath.Join(g.path, file))
	if err != nil {
		return nil
	}
	values := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 {
			values[f[0]], _ = strconv.ParseInt(f[1], 10, 64)
		}
	}
	return values
}

// Kill sends SIGKILL to every process in the group. It does not wait. A group that
// is not there has none.
func (g *Group) Kill() error {
	path := filepath.Join(g.path, "cgroup.kill")
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		g.killEach()
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("1")
	return errors.Join(err, f.Close())
}

// killEach is Kill for kernels before 5.14: one by one, so that callers repeat it
// until none is left.
func (g *Group) killEach() {
	for _, pid := range g.Processes() {
		unix.Kill(pid, unix.SIGKILL)
	}
	entries, _ := os.ReadDir(g.path) // none: it has gone
	for _, e := range entries {
		if e.IsDir() {
			At(filepath.Join(g.path, e.Name())).killEach()
		}
	}
}

// Clear kills what is in the group, waits until it is empty, and removes it. A group
// that is not there is clear. The error says what was left when ctx ended.
func (g *Group) Clear(ctx context.Context) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := g.Kill()
		if err == nil {
			err = g.removeAll()
		}
		if err == nil {
			return nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("the control group %s, with processes %v, cannot be removed: %w",
				g.path, g.Processes(), errors.Join(err, ctx.Err()))
		}
	}
}

// removeAll removes the group and those that the task made below it.
func (g *Group) removeAll() error {
	entries, err := os.ReadDir(g.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := At(filepath.Join(g.path, e.Name())).removeAll(); err != nil {
				return err
			}
		}
	}
	if err := unix.Rmdir(g.path); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

// Now is what the group has used of the processors so far, and how much memory it holds,
// without what the kernel caches of files and could give back. It is false where the group
// is not there; what is not counted is 0.
func (g *Group) Now() (cpu time.Duration, memory int64, ok bool) {
	stat := g.flat("cpu.stat")
	if stat == nil {
		return 0, 0, false
	}
	if w := readWords(filepath.Join(g.path, "memory.current")); len(w) == 1 {
		memory, _ = strconv.ParseInt(w[0], 10, 64)
	}
	memory = max(0, memory-g.flat("memory.stat")["inactive_file"])
	return time.Duration(stat["usage_usec"]) * time.Microsecond, memory, true
}

// Now is Group.Now of the task's group, wherever it is.
func (t *Tree) Now(name string) (cpu time.Duration, memory int64, ok bool) {
	own, sharing := t.places(name)
	if cpu, memory, ok = own.Now(); ok {
		return cpu, memory, ok
	}
	return sharing.Now()
}
