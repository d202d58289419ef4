// Package proc finds and kills the processes of a task by what /proc says of them,
// where there is no control group that would know.
//
// A process is named by its number and the time it started: numbers are used
// again. What is killed is held by a pidfd while it is checked, so that a number
// that changed submits between hits nobody else.
package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Stat is what /proc/PID/stat says of a process.
type Stat struct {
	PID, Parent, Session int
	State                byte   // 'Z' is a zombie
	Start                uint64 // clock ticks since the boot
}

// ParseStat reads the text of a /proc/PID/stat file. The name of the program in
// it may have any bytes, brackets and spaces too.
func ParseStat(text []byte) (Stat, error) {
	bad := fmt.Errorf("not the stat of a process: %.80q", text)
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return Stat{}, bad
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text[:open])))
	if err != nil || pid <= 0 {
		return Stat{}, bad
	}
	f := strings.Fields(string(text[end+1:]))
	if len(f) < 20 || len(f[0]) != 1 {
		return Stat{}, bad
	}
	s := Stat{PID: pid, State: f[0][0]}
	var e1, e2, e3 error
	s.Parent, e1 = strconv.Atoi(f[1])
	s.Session, e2 = strconv.Atoi(f[3])
	s.Start, e3 = strconv.ParseUint(f[19], 10, 64)
	if errors.Join(e1, e2, e3) != nil || s.Parent < 0 {
		return Stat{}, bad
	}
	return s, nil
}

// Read returns the Stat of process pid.
func Read(pid int) (Stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Stat{}, err
	}
	return ParseStat(text)
}

// All returns the Stats of all processes that can be seen.
func All() ([]Stat, error) {
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var all []Stat
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended since
		}
		if s, err := ParseStat(text); err == nil {
			all = append(all, s)
		}
	}
	return all, nil
}

// Descendants returns the living descendants of process pid, itself left out.
// Those that start while it looks may be missing: callers that kill call again.
func Descendants(pid int) []int {
	found, seen := []int{}, map[int]bool{pid: true}
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		children, err := childrenOf(todo[0])
		if err != nil {
			return descendantsByScan(pid)
		}
		for _, c := range children {
			if !seen[c] {
				seen[c] = true
				found = append(found, c)
				todo = append(todo, c)
			}
		}
	}
	return found
}

// errNoChildren says that the kernel has no "children" files.
var errNoChildren = errors.New("the kernel does not list children")

// childrenOf reads the lists of the threads of pid. A process that has ended has
// no children; they belong to another by then.
func childrenOf(pid int) ([]int, error) {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	threads, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil //nolint:nilerr // It has ended.
	}
	var children []int
	for _, t := range threads {
		text, err := os.ReadFile(filepath.Join(dir, t.Name(), "children"))
		if err != nil {
			if _, gone := os.Stat(filepath.Join(dir, t.Name(), "stat")); gone == nil && os.IsNotExist(err) {
				return nil, errNoChildren
			}
			continue
		}
		for _, f := range strings.Fields(string(text)) {
			if c, err := strconv.Atoi(f); err == nil {
				children = append(children, c)
			}
		}
	}
	return children, nil
}

// descendantsByScan is the twin of Descendants for kernels without the lists.
func descendantsByScan(pid int) []int {
	all, err := All()
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, s := range all {
		children[s.Parent] = append(children[s.Parent], s.PID)
	}
	var found []int
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		found = append(found, children[todo[0]]...)
		todo = append(todo, children[todo[0]]...)
	}
	return found
}

// AnonymousBytes is the memory of process pid that is its own: resident pages
// without those of files and shared segments, which others may count too.
func AnonymousBytes(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(text))
	if len(f) < 3 {
		return 0
	}
	resident, e1 := strconv.ParseInt(f[1], 10, 64)
	shared, e2 := strconv.ParseInt(f[2], 10, 64)
	if e1 != nil || e2 != nil {
		return 0
	}
	return max(0, resident-shared) * int64(os.Getpagesize())
}

// BootID tells one life of the machine from the next.
func BootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

// Kill sends SIGKILL as Signal does.
func Kill(pid int, belongs func(pid int) bool) bool { return Signal(pid, unix.SIGKILL, belongs) }

// Signal sends a signal to process pid where it still is the one that belongs says it
// is, and reports whether it did.
func Signal(pid int, signal unix.Signal, belongs func(pid int) bool) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	// The check comes after the pidfd is there: it is true of the process held.
	return belongs(pid) && unix.PidfdSendSignal(fd, signal, nil, 0) == nil
}
