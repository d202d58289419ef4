package scheduler

import (
	"context"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// retryDue is when what could not be done is tried again.
const retryDue = 5 * time.Second

// isDue sees to what is due.
func (c *Controller) isDue(ctx context.Context, d due) {
	v := c.cfg.State.View()
	now := time.Now()
	switch d.kind {
	case dueJob:
		c.refill(v, d.element.Job)
	case dueElement:
		c.elementChanged(v, d.element)
		c.refill(v, d.element.Job)
	case dueGang:
		c.gangDue(ctx, v, d)
	case dueDeadline:
		if j := v.Job(d.element.Job); j != nil && !j.Done() {
			c.propose(ctx, &state.Command{By: "deadline", Cancel: &state.Cancel{
				Select: state.Select{Job: j.ID, Reason: "its deadline has passed"}, State: job.Deadline,
			}})
			c.timers.set(now.Add(retryDue), d)
		}
	case dueNode:
		c.nodeDue(ctx, v, d.node)
		c.again(v, now, d)
	case dueNever:
		c.neverDue(ctx, v, d)
	case dueHolds:
		c.refreshHolds(v)
	case duePurge:
		c.propose(ctx, &state.Command{Purge: &state.Purge{
			Before: now.Add(-c.cfg.KeepEnded), Records: c.cfg.KeepRecords, ByQueues: true,
		}})
		c.timers.set(now.Add(c.cfg.Times.Purge), d)
	}
}

// again looks at a node again while it has tasks that ought to have been ended.
func (c *Controller) again(v state.View, now time.Time, d due) {
	for range v.TasksOn(d.node) {
		c.timers.set(now.Add(retryDue), d)
		return
	}
}

// gangDue gives up an attempt that is still not complete.
func (c *Controller) gangDue(ctx context.Context, v state.View, d due) {
	j, e := v.Job(d.element.Job), v.Element(d.element.Job, d.element.Index)
	if j == nil || e == nil || e.Attempt != d.attempt || e.State != job.Starting || e.Placed == j.Spec.Tasks {
		return
	}
	c.propose(ctx, &state.Command{Unplace: &state.Unplace{
		Task:   job.TaskID{Job: e.Job, Element: e.Index, Attempt: e.Attempt},
		Reason: "not all of its tasks could get a node",
	}})
	c.timers.set(time.Now().Add(c.cfg.Times.Gang), d)
}
