package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/agent/cpuset"
)

// cpusFile has the processors that the processes of a group may run on. Which memory
// they use (cpuset.mems) is left to the kernel: it takes that of the node where a thread
// runs as long as there is some. Bound to one node, a task would be killed where that is
// full although the machine is not, and what it has would be copied whenever the nodes
// change.
const cpusFile = "cpuset.cpus"

// Pins reports whether tasks can be kept to processors: there is a cpuset controller.
// The methods below need it.
func (t *Tree) Pins() bool { return slices.Contains(t.controllers, "cpuset") }

// Allowed are the processors that tasks may run on at all: those that are on line and
// that the groups above leave.
func (t *Tree) Allowed() ([]int, error) {
	return readCPUs(filepath.Join(t.path, cpusFile+".effective"))
}

// Owned are the processors that tasks have to themselves. The groups are the only
// record of it: what a group has is owned until the group is removed.
func (t *Tree) Owned() ([]int, error) {
	names, err := groups(t.path)
	if err != nil {
		return nil, err
	}
	var owned []int
	for _, name := range names {
		if name == sharedGroup {
			continue
		}
		cpus, err := readCPUs(filepath.Join(t.path, name, cpusFile))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		owned = append(owned, cpus...)
	}
	return owned, nil
}

// Share says which processors the tasks run on that have none to themselves: those that
// run already, and those that come.
func (t *Tree) Share(cpus []int) error {
	if len(cpus) == 0 {
		return errors.New("no processor would be left for tasks that share them")
	}
	list := cpuset.FormatList(cpus)
	path := filepath.Join(t.path, sharedGroup, cpusFile)
	if text, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(text)) == list {
		return nil // writing takes locks that all of the kernel's groups share
	}
	return At(filepath.Join(t.path, sharedGroup)).write(cpusFile, list)
}

func readCPUs(path string) ([]int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	cpus, err := cpuset.ParseList(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cpus, nil
}
