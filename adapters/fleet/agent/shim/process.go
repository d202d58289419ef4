package shim

import (
	"fmt"
	"os"
	"strconv"
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
		return 0, t.notExecuted(program, err)
	}
	return pid, nil
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
