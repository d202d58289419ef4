package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
)

// start starts the task's first process. It is called on a thread that lives as long
// as the shim, for the kernel kills the process when that thread ends.
func start(t Task, o *outputs) (pid int, err error) {
	program, err := findProgram(t)
	if err != nil {
		return 0, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	attr := &syscall.ProcAttr{
		Dir:   t.Dir,
		Env:   t.Env,
		Files: []uintptr{null.Fd(), o.stdout.Fd(), o.stderr.Fd()},
		Sys: &syscall.SysProcAttr{
			Setsid:     true,
			Pdeathsig:  syscall.SIGKILL,
			Credential: credential(t.Account),
		},
	}
	if t.Cgroup != "" {
		group, err := cgroup.At(t.Cgroup).Open()
		if err != nil {
			return 0, fmt.Errorf("opening the control group: %w", err)
		}
		defer group.Close()
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(group.Fd())
	}
	defer exposeToOOM()()
	pid, err = syscall.ForkExec(program, t.Argv, attr)
	if err != nil {
		return 0, fmt.Errorf("starting %s in %s: %w", program, t.Dir, err)
	}
	return pid, nil
}

// findProgram looks for the program as the account: what it may not see is not
// there.
func findProgram(t Task) (program string, err error) {
	err = as(t.Account, func() error {
		info, err := os.Stat(t.Dir)
		if err != nil {
			return fmt.Errorf("working directory: %w", err)
		}
		if !info.IsDir() {
			return fmt.Errorf("working directory: %s is not a directory", t.Dir)
		}
		program, err = lookPath(t.Argv[0], t.Dir, pathOf(t.Env))
		return err
	})
	return program, err
}

func pathOf(env []string) string {
	for _, line := range env {
		if path, ok := strings.CutPrefix(line, "PATH="); ok {
			return path
		}
	}
	return ""
}

// lookPath finds a program. One with a slash is a path, from dir on; others are
// looked for in the absolute folders of path.
func lookPath(name, dir, path string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, executable(name)
	}
	var denied error
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue
		}
		file := filepath.Join(folder, name)
		err := executable(file)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", fmt.Errorf("the program %q is in no folder of PATH=%s", name, path)
}

// executable is about mistakes that people make; the kernel has the last word.
func executable(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("program: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return fmt.Errorf("program: %s is not an executable file", file)
	}
	return nil
}

// oomScore is how much more likely the kernel kills a task than what it runs under,
// when the memory of the whole machine has run out.
const oomScore = 500

// exposeToOOM makes the processes that this one starts likely to be killed when
// memory runs out, whatever protection the agent's unit has (OOMScoreAdjust), and
// returns what undoes that for this process. Where it is not allowed nothing changes.
func exposeToOOM() (undo func()) {
	const file = "/proc/self/oom_score_adj"
	before, err := os.ReadFile(file)
	if err != nil || os.WriteFile(file, []byte(strconv.Itoa(oomScore)), 0o644) != nil {
		return func() {}
	}
	return func() { os.WriteFile(file, before, 0o644) }
}
