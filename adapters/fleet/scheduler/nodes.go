package scheduler

import (
	"context"
	"reflect"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
)

// nodeChanged tells the engine what a node is like by now, and sees whether its
// tasks are to be ended.
func (c *Controller) nodeChanged(v state.View, name string) {
	n := v.Node(name)
	c.refreshNode(n, name)
	if n != nil && (n.Drain != nil || n.Maintenance != nil) {
		c.timers.set(time.Now(), due{kind: dueNode, node: name})
	}
}

// refreshNode tells the engine what a node is like by now, nil where it is gone. One
// that is lost is gone for the engine.
func (c *Controller) refreshNode(n *state.Node, name string) {
	now := time.Now()
	if n == nil {
		c.beats.forget(name)
	} else {
		c.beats.know(name, now)
	}
	if n == nil || n.State == api.NodeLost {
		if c.nodes[name] != nil {
			c.change(engine.RemoveNode(name))
			delete(c.nodes, name)
			c.forgetLoad(name)
		}
		return
	}
	next := nodeModel(n, now)
	c.remind(n, now)
	if reflect.DeepEqual(next, c.nodes[name]) {
		return // its tasks have changed, not the node
	}
	if err := next.Validate(); err != nil {
		c.cfg.Logger.Error("a node cannot be used", "node", name, "error", err)
		return
	}
	c.nodes[name] = next
	c.change(engine.PutNode(next))
}

// remind sets timers for what is to be done about a node later.
func (c *Controller) remind(n *state.Node, now time.Time) {
	var at []time.Time
	if n.Drain != nil && !n.Drain.Deadline.IsZero() {
		at = append(at, n.Drain.Deadline)
	}
	if n.Maintenance != nil {
		at = append(at, n.Maintenance.From, n.Maintenance.To)
	}
	for _, at := range at {
		if at.After(now) {
			c.timers.set(at, due{kind: dueNode, node: n.Node})
		}
	}
}

// nodeDue ends the tasks of a node whose drain or maintenance wants that by now.
func (c *Controller) nodeDue(ctx context.Context, v state.View, name string) {
	n := v.Node(name)
	if n == nil {
		return
	}
	c.refreshNode(n, name)
	now := time.Now()
	reason := ""
	switch m := n.Maintenance; {
	case n.Drain != nil && !n.Drain.Deadline.IsZero() && !now.Before(n.Drain.Deadline):
		reason = "the node is drained" + n.Drain.Because()
	case m != nil && !now.Before(m.From) && now.Before(m.To):
		reason = "the node has a maintenance window" + m.Because()
	default:
		return
	}
	for k := range v.TasksOn(name) {
		if k.Stop == nil {
			c.propose(ctx, &state.Command{StopTask: &state.StopTask{Task: k.ID, State: job.NodeFail, Reason: reason}})
		}
	}
}

// watchNodes sees which nodes have fallen silent, and which speak again.
func (c *Controller) watchNodes(ctx context.Context) {
	v := c.cfg.State.View()
	now := time.Now()
	interval := c.Interval()
	for n := range v.Nodes() {
		b := c.beats.of(n.Node)
		if b.seen.IsZero() {
			continue
		}
		silent := now.Sub(b.seen) - interval
		next := api.NodeReady
		switch {
		case silent > c.cfg.Times.Unreachable+c.cfg.Times.Lost:
			next = api.NodeLost
		case silent > c.cfg.Times.Unreachable:
			next = api.NodeUnreachable
		}
		if n.State == api.NodeLost && next == api.NodeUnreachable {
			continue // it was given up already
		}
		status := &state.NodeStatus{Node: n.Node}
		if next != n.State && (next != api.NodeReady || b.heard) {
			status.State = next
		}
		if b.heard && b.unhealthy != n.Unhealthy {
			status.Unhealthy = &b.unhealthy
		}
		status.Probe = n.Distrust != nil && (now.Sub(n.Distrust.Since) >= avoidFor || n.Distrust.Since.After(now))
		if status.State != "" || status.Unhealthy != nil || status.Probe {
			c.propose(ctx, &state.Command{NodeStatus: status})
		}
	}
}
