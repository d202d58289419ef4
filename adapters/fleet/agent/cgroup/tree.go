package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrUnavailable says that this process can make no control groups. The error that
// wraps it says why.
var ErrUnavailable = errors.New("control groups (version 2) are not available")

// Wanted are the controllers that tasks are limited and counted by.
var Wanted = []string{"cpu", "cpuset", "io", "memory", "pids"}

// Options say where to make groups.
type Options struct {
	// Name is the name of the group that all tasks' groups go into; it tells agents
	// on one machine apart.
	Name string
	// Parent is the folder of an existing group to make it in. Default: what the
	// package comment says.
	Parent string
	// Proc is where the proc file system is. Default: "/proc".
	Proc string
}

// Tree is the group that all tasks' groups are in: those of tasks with processors of
// their own right in it, those of the others in its group "shared". Its methods may be
// called by several goroutines.
type Tree struct {
	path        string
	controllers []string
}

// Open finds the place for groups, makes the group for all tasks and turns on the
// controllers that there are. The error is ErrUnavailable, wrapped.
func Open(o Options) (*Tree, error) {
	if o.Proc == "" {
		o.Proc = "/proc"
	}
	parent, err := o.Parent, error(nil)
	if parent == "" {
		if parent, err = findParent(o.Proc); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
	t := &Tree{path: filepath.Join(parent, o.Name)}
	enable(parent)
	for _, path := range []string{t.path, filepath.Join(t.path, sharedGroup)} {
		if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		t.controllers = enable(path) // what is on above, or less
	}
	return t, nil
}

// sharedGroup is the group of the groups of all tasks that share processors. What it may
// run on holds for all of them at once.
const sharedGroup = "shared"

// Controllers are those that limit and count tasks, of Wanted.
func (t *Tree) Controllers() []string { return t.controllers }

// Missing are those of Wanted that the machine does not offer here.
func (t *Tree) Missing() []string {
	var missing []string
	for _, c := range Wanted {
		if !slices.Contains(t.controllers, c) {
			missing = append(missing, c)
		}
	}
	return missing
}

// Remove removes the group for all tasks, which must have none left.
func (t *Tree) Remove() error {
	_ = os.Remove(filepath.Join(t.path, sharedGroup)) // not while it has groups; then the next fails too
	return os.Remove(t.path)
}

// Names are the tasks that there are groups of.
func (t *Tree) Names() ([]string, error) {
	own, err := groups(t.path)
	if err != nil {
		return nil, err
	}
	sharing, err := groups(filepath.Join(t.path, sharedGroup))
	if err != nil {
		return nil, err
	}
	own = slices.DeleteFunc(own, func(name string) bool { return name == sharedGroup })
	return append(own, sharing...), nil
}

// groups are the names of those right below the group path.
func groups(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// enable turns on the wanted controllers for the groups below the group path, one
// by one, because one that cannot be turned on would take the others with it, and
// returns those that are on.
func enable(path string) []string {
	offered := readWords(filepath.Join(path, "cgroup.controllers"))
	control := filepath.Join(path, "cgroup.subtree_control")
	var on []string
	for _, c := range Wanted {
		if !slices.Contains(offered, c) {
			continue
		}
		err := os.WriteFile(control, []byte("+"+c), 0o644)
		if err == nil || slices.Contains(readWords(control), c) {
			on = append(on, c)
		}
	}
	return on
}

func readWords(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// agentGroup is the group below a delegated one that the agent itself is in.
const agentGroup = "agent"

func findParent(proc string) (string, error) {
	info, err := os.ReadFile(filepath.Join(proc, "self/mountinfo"))
	if err != nil {
		return "", err
	}
	mount, ok := MountPoint(string(info))
	if !ok {
		return "", errors.New("no cgroup2 file system is mounted")
	}
	text, err := os.ReadFile(filepath.Join(proc, "self/cgroup"))
	if err != nil {
		return "", err
	}
	own := OwnPath(string(text))
	if own != "" && own != "/" {
		group := filepath.Join(mount, own)
		if filepath.Base(group) == agentGroup && delegated(filepath.Dir(group)) {
			return filepath.Dir(group), nil
		}
		if delegated(group) {
			// So systemd starts the next agent in this very group, too. The kernel refuses that
			// while there are limited groups below it, of tasks that outlived this agent.
			if above := filepath.Dir(group); above != mount && unix.Access(above, unix.W_OK) == nil {
				return above, nil
			}
			return group, moveInto(filepath.Join(group, agentGroup))
		}
	}
	if unix.Access(mount, unix.W_OK) != nil {
		return "", fmt.Errorf("the group %q was not delegated to this process (systemd: Delegate=yes), and it is not root", own)
	}
	return mount, nil
}

// delegated: systemd marks what it leaves to others.
func delegated(group string) bool {
	if unix.Access(group, unix.W_OK) != nil {
		return false
	}
	value := make([]byte, 1)
	for _, name := range []string{"trusted.delegate", "user.delegate"} {
		if n, err := unix.Getxattr(group, name, value); err == nil && n == 1 && value[0] == '1' {
			return true
		}
	}
	return false
}

func moveInto(group string) error {
	if err := os.Mkdir(group, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	pid := strconv.Itoa(os.Getpid())
	return os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(pid), 0o644)
}

// MountPoint finds where the version 2 hierarchy is mounted, in the text of a
// /proc/PID/mountinfo file.
func MountPoint(mountinfo string) (string, bool) {
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(kind) < 1 || kind[0] != "cgroup2" {
			continue
		}
		return unescape(fields[4]), true
	}
	return "", false
}

// unescape reads the octal codes that the kernel writes for blanks in paths.
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// OwnPath finds the group of a process, in the text of its /proc/PID/cgroup file.
// It is empty where the process is in none of version 2.
func OwnPath(text string) string {
	for line := range strings.Lines(text) {
		if path, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "0::"); ok {
			return path
		}
	}
	return ""
}
