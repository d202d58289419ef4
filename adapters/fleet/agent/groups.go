package agent

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// withoutController says, for people, what the lack of a controller means.
var withoutController = map[string]string{
	"cpu":    "there is no cpu controller: tasks may use more processor time than they asked for",
	"cpuset": "there is no cpuset controller: tasks that ask for whole cores share them with others",
	"io":     "there is no io controller: what tasks read and write is counted by the process",
	"memory": "there is no memory controller: memory is looked at up to ten times a second, and tasks that use too much are killed then",
	"pids":   "there is no pids controller: tasks may have any number of processes",
}

// openTree finds the control groups. Without them the agent works, and says so.
func (a *Agent) openTree() {
	a.tree, a.pins, a.treeErr = nil, nil, fmt.Errorf("the configuration says %s", NoCgroup)
	if a.cfg.Cgroup == NoCgroup {
		return
	}
	tree, err := cgroup.Open(cgroup.Options{Name: a.cfg.groupName(), Parent: a.cfg.Cgroup})
	if err != nil {
		a.treeErr = err
		a.log.Warn("tasks are not contained by control groups", "error", err)
		return
	}
	a.tree = tree
	a.pins = &pins{tree: tree, log: a.log, share: a.cfg.NoPinning}
}

// clearGroup clears the control group of a task, if there is one, and gives back the
// processors that it owned.
func (a *Agent) clearGroup(ctx context.Context, name string) error {
	if a.tree == nil {
		return nil
	}
	err := a.tree.Clear(ctx, name)
	if err == nil {
		a.pins.settle()
	}
	return err
}

// leaveTree removes the group of all tasks' groups, unless there are tasks.
func (a *Agent) leaveTree() {
	if a.tree != nil {
		_ = a.tree.Remove() // not while there are groups in it
	}
}

// groupName is the name of the group of all tasks' groups: one for a data folder, which
// has one agent, because an agent removes groups that it does not know.
func (c Config) groupName() string {
	sum := sha256.Sum256([]byte(c.DataDir))
	return fmt.Sprintf("berth-%s-%x", c.Node, sum[:4])
}

// lingeringLimit is how long it is tried, each time, to clear what could not be cleared
// when its task ended.
const lingeringLimit = time.Second

// clearLingering clears the control groups of tasks that have ended that could not be
// then: where a disk hangs, so do the processes that wait for it, and they keep what
// they own until they are gone.
func (a *Agent) clearLingering(ctx context.Context) error {
	if a.tree == nil {
		return nil
	}
	names, err := a.tree.Names()
	problems := []error{err}
	for _, name := range names {
		id, err := job.ParseTaskID(name)
		if err != nil {
			continue
		}
		// What has a report has ended, and is never started again.
		if stage, _, _, err := a.folders.look(id); err != nil || stage != stageReported {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, lingeringLimit)
		problems = append(problems, a.clearGroup(limited, name))
		cancel()
	}
	return errors.Join(problems...)
}
