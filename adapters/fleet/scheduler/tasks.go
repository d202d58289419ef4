package scheduler

import (
	"context"
	"fmt"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

var _ extpoints.Orchestrator = (*Controller)(nil)

// Bind implements extpoints.Orchestrator: it has the placement recorded.
func (c *Controller) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	p := &state.Place{Task: taskOf(w).id, Node: b.Node}
	for _, d := range b.Devices {
		p.GPUs = append(p.GPUs, state.GPUShare{GPU: d.Device, Share: d.Share})
	}
	return c.carryOut(ctx, &state.Command{Place: p})
}

// Evict implements extpoints.Orchestrator: it has the attempt ended.
func (c *Controller) Evict(ctx context.Context, w *model.Workload, reason string) error {
	id := taskOf(w).id
	return c.carryOut(ctx, &state.Command{StopTask: &state.StopTask{Task: id, State: job.Preempted, Reason: evictionWords(c.cfg.State.View(), id.Job, reason)}})
}

func (c *Controller) carryOut(ctx context.Context, cmd *state.Command) error {
	cmd.Term = c.cfg.Term
	r, err := c.cfg.Propose(ctx, cmd)
	if err != nil {
		return fmt.Errorf("record a decision: %w", err)
	}
	if r.Err != nil {
		return r.Err
	}
	return nil
}

// taskChanged tells the engine where a task is by now.
func (c *Controller) taskChanged(v state.View, id job.TaskID) {
	name := id.String()
	k := v.Task(id)
	if k == nil {
		if c.known[name] >= placed {
			c.forget(id)
		}
		return
	}
	switch c.known[name] {
	case 0:
		c.adopt(v, k)
	case offered:
		c.change(engine.Confirm(model.Binding{
			Workload: name, Node: k.Node, Devices: devices(k.GPUs), Since: k.Placed,
		}))
		c.reasons.forget(id)
		c.note(name, placed)
	}
	if k.Stop != nil && c.known[name] == placed {
		c.change(engine.Terminate(name))
		c.note(name, stopping)
	}
}

// adopt tells the engine of a task that was placed by somebody else.
func (c *Controller) adopt(v state.View, k *state.Task) {
	j := v.Job(k.ID.Job)
	q := queueOf(v, j)
	c.joinGroup(j, q, k.ID)
	c.change(engine.Adopt(c.workload(v, j, q, k.ID, nil), model.Binding{Node: k.Node, Devices: devices(k.GPUs), Since: k.Placed}))
	c.note(k.ID.String(), placed)
}

func devices(gpus []state.GPUShare) []model.DeviceShare {
	var out []model.DeviceShare
	for _, g := range gpus {
		out = append(out, model.DeviceShare{Device: g.GPU, Share: g.Share})
	}
	return out
}

// joinGroup makes sure that the engine knows the group of a gang's task, and counts
// the member.
func (c *Controller) joinGroup(j *state.Job, q *state.Queue, id job.TaskID) {
	if j.Spec.Tasks == 1 {
		return
	}
	g := groupID(id)
	if c.members[g] == 0 {
		c.change(engine.PutGroup(groupModel(j, q, id)))
	}
	c.members[g]++
}

// forget removes a workload from the engine, and with the last member its group.
func (c *Controller) forget(id job.TaskID) {
	name := id.String()
	c.change(engine.Remove(name))
	c.note(name, 0)
	c.reasons.forget(id)
	c.gone = append(c.gone, id)
	g := groupID(id)
	switch c.members[g] {
	case 0:
	case 1:
		c.change(engine.RemoveGroup(g))
		delete(c.members, g)
	default:
		c.members[g]--
	}
}

// queueOf is the job's queue; one that is gone keeps nobody away any more.
func queueOf(v state.View, j *state.Job) *state.Queue {
	if q := v.Queue(j.Spec.Queue); q != nil {
		return q
	}
	return &state.Queue{Name: j.Spec.Queue}
}
