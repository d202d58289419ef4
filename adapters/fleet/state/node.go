package state

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// register records what an agent says of its node. Of another life of the machine
// nothing runs any more that was placed there before. As long as the node is heard of,
// another life of it is another machine, with the same name by mistake: it is refused,
// or each of them would end what the other runs. Who was only started anew is heard of
// no more as it was before, and is let in when that has been noticed.
func (t *tx) register(r *api.Registration) Result {
	if m := &r.Machine; r.Node == "" || m.CPU < 0 || m.Memory < 0 || m.Disk < 0 {
		return refuse(api.CodeInvalid, "node %q: it has no name, or less than nothing", r.Node)
	}
	n := &Node{Registered: t.now()}
	if old := t.Node(r.Node); old != nil {
		if old.State == api.NodeReady && (old.Boot != r.Boot || old.Address != r.Address) {
			return refuse(api.CodeConflict, "there is a node %q already, at %s, and it is alive: "+
				"give this machine another name, or end the agent there; if this is the same machine, started anew, wait until it is let in",
				r.Node, old.Address)
		}
		*n = *old
		if old.Boot != r.Boot {
			n.Registered = t.now()
			n.trust()
			t.loseTasks(r.Node, "the node was started anew")
		}
	}
	n.Registration = *r
	n.State = api.NodeReady
	t.putNode(n)
	t.emit(api.Event{Kind: api.EventNode, Node: r.Node, Message: "registered"})
	return Result{}
}

// loseTasks ends the tasks of a node as lost.
func (t *tx) loseTasks(node, reason string) {
	for _, was := range slices.Collect(t.TasksOn(node)) {
		k := t.Task(was.ID)
		if k == nil {
			continue // it went with another of its attempt
		}
		j, e := t.Job(k.ID.Job), *t.Element(k.ID.Job, k.ID.Element)
		if !k.Ready {
			t.release(j, &e, Outcome{State: job.NodeFail, Rank: k.ID.Rank, Message: reason})
			continue
		}
		t.endTask(j, &e, k, &api.Report{Task: k.ID, State: job.NodeFail, At: t.now(), Message: reason})
	}
}

// nodeStatus records what the leader found about a node.
func (t *tx) nodeStatus(c *NodeStatus) Result {
	old := t.Node(c.Node)
	if old == nil {
		return refuse(api.CodeNotFound, "there is no node %q", c.Node)
	}
	n := *old
	if c.State != "" && c.State != n.State {
		n.State = c.State
		t.emit(api.Event{Kind: api.EventNode, Node: n.Node, Message: "is " + string(c.State)})
	}
	if c.Unhealthy != nil && *c.Unhealthy != n.Unhealthy {
		n.Unhealthy = *c.Unhealthy
		message := "is healthy again"
		switch {
		case n.Unhealthy != "":
			message = "is unhealthy: " + n.Unhealthy
		case n.Distrust == nil:
			n.trust() // it has found what was wrong, and that it is no more
		}
		t.emit(api.Event{Kind: api.EventNode, Node: n.Node, Message: message})
	}
	if c.Probe && n.Distrust != nil {
		n.probe()
		t.emit(api.Event{Kind: api.EventNode, Node: n.Node, Message: "is tried again"})
	}
	t.putNode(&n)
	if c.State == api.NodeLost {
		t.loseTasks(c.Node, fmt.Sprintf("node %s is lost", c.Node))
	}
	return Result{}
}

// changeNode does what an operator wants of a node.
func (t *tx) changeNode(c *NodeChange) Result {
	old := t.Node(c.Node)
	if old == nil {
		return refuse(api.CodeNotFound, "there is no node %q", c.Node)
	}
	n := *old
	message := "is changed"
	switch {
	case c.Drain != nil:
		d := *c.Drain
		d.By, d.Since = t.by, t.now()
		if d.Reason == "" && n.Drain != nil {
			d.Reason = n.Drain.Reason // another deadline changes nothing of why
		}
		n.Drain = &d
		message = "is drained" + d.Because()
	case c.Resume:
		n.Drain = nil
		n.trust()
		message = "is resumed"
	case c.Maintenance != nil:
		n.Maintenance = c.Maintenance
		message = "has a maintenance window" + c.Maintenance.Because()
	case c.ClearMaintenance:
		n.Maintenance = nil
		message = "has no maintenance window any more"
	}
	if len(c.Labels) > 0 {
		n.Labels = maps.Clone(n.Labels)
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		for k, v := range c.Labels {
			if v == "" {
				delete(n.Labels, k)
			} else {
				n.Labels[k] = v
			}
		}
		message = "has other labels"
	}
	t.putNode(&n)
	t.emit(api.Event{Kind: api.EventNode, Node: n.Node, Message: message})
	return Result{}
}

// removeNode forgets a node that has no tasks.
func (t *tx) removeNode(name string) Result {
	n := t.Node(name)
	if n == nil {
		return refuse(api.CodeNotFound, "there is no node %q", name)
	}
	for k := range t.TasksOn(name) {
		return refuse(api.CodeConflict, "node %q has tasks, for example %s; drain it first", name, k.ID)
	}
	nodes.remove(t.txn, n)
	if u := used.get(t.txn, []byte(name)); u != nil {
		used.remove(t.txn, u)
	}
	t.nodes[name] = true
	t.emit(api.Event{Kind: api.EventNode, Node: name, Message: "is removed"})
	return Result{}
}

// AllLabels are the labels of the machine and the operator's, which go first.
func (n *Node) AllLabels() map[string]string {
	all := maps.Clone(n.Machine.Labels)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, n.Labels)
	return all
}
