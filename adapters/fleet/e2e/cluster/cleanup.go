package cluster

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// commandLines are the arguments of all processes.
func commandLines() map[int][]string {
	out := map[int][]string{}
	entries, _ := os.ReadDir("/proc") // there is nothing to find without it
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if text, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline")); err == nil && len(text) > 0 {
			out[pid] = strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
		}
	}
	return out
}

// of reports whether a process is a server, an agent or a shim of the folder, or is of a
// task that runs in it, which its environment tells. Somebody who looks at a file there
// is none.
func of(pid int, args []string, dir string) bool {
	if len(args) > 2 && strings.HasPrefix(args[0], os.TempDir()+"/"+prefix) && strings.HasPrefix(args[len(args)-1], dir+"/") {
		return true
	}
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00BERTH_TASK_DIR="+dir+"/"))
}

// killLimit is how long the kernel may take to end what was killed.
const killLimit = 20 * time.Second

// killAll kills all processes of the folder: shims, tasks, and what they started. The
// folder's name has this process's number, so they are nobody else's.
func killAll(dir string) error {
	for end := time.Now().Add(killLimit); ; time.Sleep(20 * time.Millisecond) {
		left := 0
		for pid, args := range commandLines() {
			if pid == os.Getpid() || !of(pid, args, dir) {
				continue
			}
			left++
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d processes of %s do not end", left, dir)
		}
	}
}

// removeGroups removes the control groups of an agent, whose tasks have ended. Their
// name is that which agents give them.
func removeGroups(node, data string) {
	sum := sha256.Sum256([]byte(filepath.Join(data, "tasks")))
	name := fmt.Sprintf("berth-%s-%x", node, sum[:4])
	var found []string
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == name {
			found = append(found, path)
			return fs.SkipDir
		}
		return nil // what cannot be read is not ours
	})
	for _, path := range found {
		// Tasks' groups are in it, and in its group of those that share processors.
		for _, below := range []string{"*/*", "*"} {
			for _, child := range glob(filepath.Join(path, below)) {
				_ = os.Remove(child) // files stay, and go with their group
			}
		}
		_ = os.Remove(path)
	}
}

// sweep removes what test processes left behind that were killed themselves: their
// number is in every name.
func sweep() {
	for _, dir := range glob(filepath.Join(os.TempDir(), prefix+"*")) {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), prefix))
		if err != nil || alive(pid) {
			continue
		}
		// Logs of tests that failed stay; the rest goes.
		for _, left := range glob(filepath.Join(dir, "*")) {
			if strings.HasPrefix(filepath.Base(left), logsPrefix) {
				continue
			}
			_ = killAll(left)
			for _, m := range mountsBelow(left) {
				_ = unix.Unmount(m, unix.MNT_DETACH)
			}
			_ = os.RemoveAll(left)
		}
		sweepNetworks(pid)
		_ = os.Remove(dir)
	}
}

func alive(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }

// mountsBelow are the mounts in a folder.
func mountsBelow(dir string) []string {
	text, _ := os.ReadFile("/proc/self/mounts")
	var out []string
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], dir+"/") {
			out = append(out, f[1])
		}
	}
	return out
}
