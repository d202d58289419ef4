package scheduler

import (
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/model"
)

// A measurement is about a window of time, in which tasks have begun and ended. The engine is
// told how much of it each task has contributed, so that tasks are not counted twice, once as
// measured and once as expected, and so that what a task used is free as soon as it has ended.

// taskUse is what a task uses while it runs.
type taskUse struct {
	placed      time.Time
	cpu, memory int64
}

// nodeUse is what is known of the tasks of a node.
type nodeUse struct {
	running map[job.TaskID]taskUse
	left    []leftTask // within the last window
}

// leftTask is a task that has ended.
type leftTask struct {
	taskUse
	at time.Time // when that was noticed
}

// leftTasks stands for all tasks that have ended, which are on no node any more.
const leftTasks = "left"

// workloadLoads are what tasks have contributed to what was measured: those that run, one by
// one, and those that have ended together.
func (c *Controller) workloadLoads(v state.View, m *measurement, l *model.NodeLoad) (out []model.WorkloadLoad) {
	u := c.uses[l.Node]
	if u == nil {
		u = &nodeUse{}
		c.uses[l.Node] = u
	}
	now, begin, before := time.Now(), l.At.Add(-l.Interval), u.running
	u.running = usesOf(v, l.Node, m)
	for id, use := range before {
		if _, runs := u.running[id]; !runs {
			u.left = append(u.left, leftTask{use, now})
		}
	}
	u.left = slices.DeleteFunc(u.left, func(t leftTask) bool { return !t.at.After(begin) })
	contribution := func(t taskUse, end time.Time) model.Resources {
		began := slices.MaxFunc([]time.Time{t.placed, begin}, time.Time.Compare)
		end = slices.MinFunc([]time.Time{end, l.At}, time.Time.Compare)
		part := float64(end.Sub(began)) / float64(l.Interval)
		part = min(max(part, 0), 1)
		return model.Resources{CPU: int64(part * float64(t.cpu)), Memory: int64(part * float64(t.memory))}
	}
	for k := range v.TasksOn(l.Node) {
		if use, runs := u.running[k.ID]; runs {
			out = append(out, model.WorkloadLoad{ID: k.ID.String(), Used: contribution(use, l.At)})
		}
	}
	if len(u.left) > 0 {
		all := model.WorkloadLoad{ID: leftTasks}
		for _, t := range u.left {
			part := contribution(t.taskUse, t.at)
			all.Used.Add(&part)
		}
		out = append(out, all)
	}
	return out
}

// usesOf is what each of the tasks uses that run on the node: as measured, or else as expected.
func usesOf(v state.View, node string, m *measurement) map[job.TaskID]taskUse {
	measured := make(map[job.TaskID]*api.TaskLoad, len(m.load.Tasks))
	for i := range m.load.Tasks {
		measured[m.load.Tasks[i].Task] = &m.load.Tasks[i]
	}
	uses := map[job.TaskID]taskUse{}
	for k := range v.TasksOn(node) {
		if k.State != job.Running {
			continue
		}
		r := &v.Job(k.ID.Job).Spec.Resources
		// The plugin expects so much of tasks that were not measured.
		use := taskUse{k.Placed, int64(r.CPU) * 85 / 100, int64(r.Memory) / 100 * 70}
		if l := measured[k.ID]; l != nil {
			if l.CPU > 0 {
				use.cpu = int64(l.CPU)
			}
			if l.Memory > 0 {
				use.memory = int64(l.Memory)
			}
		}
		uses[k.ID] = use
	}
	return uses
}
