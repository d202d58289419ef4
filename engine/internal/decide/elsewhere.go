package decide

import (
	"errors"

	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
)

// ErrNoNodes is why a workload is not placed where there is no node at all.
var ErrNoNodes = errors.New("no nodes available to schedule workloads")

// Decide runs the stages prefilter to select on the cycle's view: what is
// feasible, what is best. It changes nothing but the start index. A nil status
// means that c.Binding.Node is chosen; a rejection comes with c.Diagnosis.
func (c *Cycle) Decide() *extpoints.Status {
	nodes := c.nodes()
	if nodes.Len() == 0 {
		return c.noNodes(nodes)
	}
	c.pre = c.Framework.PreFilter(c.State, c.Info)
	if failed := c.View.FailedStarts(); !failed.None() && c.pre.Status == nil {
		return c.lookElsewhere(failed)
	}
	return c.look(nodes)
}

// noNodes is look where there is no node. Nobody is asked about others, but what names its node
// waits for that as it does where there are others. (To kube-scheduler 1.37.1 nothing names its
// node and waits.)
func (c *Cycle) noNodes(nodes extpoints.Nodes) *extpoints.Status {
	if c.Info.NodeName != "" && c.part == nil && c.Framework.Improved() {
		if c.pre = c.Framework.PreFilter(c.State, c.Info); c.pre.Status.IsRejected() {
			return c.refer(nodes)
		}
	}
	return extpoints.AsStatus(ErrNoNodes)
}

// lookElsewhere is look where starts have failed. Nodes are left out as long as others do: those
// that are doubted, where others are feasible now; those that could not start this workload,
// where others are feasible or will be when something leaves them. To wait for that may mean to
// displace somebody there, or to be the next; a node that is not there is no reason against it.
func (c *Cycle) lookElsewhere(failed snapshot.FailedStarts) *extpoints.Status {
	own, doubted := c.avoided(failed), failed.Doubted(c.Now)
	if len(own)+len(doubted) == 0 {
		return c.look(c.nodes())
	}
	all, pre := c.part, c.pre
	defer func() { c.part = all }()
	again := func() { c.forget(); c.pre = pre }
	if c.leave(all, own, doubted); len(doubted) > 0 && c.part.Len() > 0 {
		c.further = true
		if st := c.look(c.nodes()); !st.IsRejected() {
			return st
		}
		again()
	}
	if c.leave(all, own, nil); len(own) > 0 && c.part.Len() > 0 {
		c.further = true
		if st := c.look(c.nodes()); !st.IsRejected() {
			return st
		} else if c.others() {
			c.tell.Filtered(c, c.evaluated, 0)
			c.part = all
			c.Diagnosis.Widen(c.nodes(), c.leftOut())
			return st
		}
		again()
	}
	c.part, c.out, c.further = all, nil, false
	return c.look(c.nodes())
}

// forget forgets what was found in a look that is followed by another.
func (c *Cycle) forget() {
	s := &c.d.scratch
	s.feasible, s.positions, s.rejected = s.feasible[:0], s.positions[:0], s.rejected[:0]
	c.Diagnosis, c.refused, c.feasible, c.scores = nil, nil, nil, nil
	c.nominatedRejected, c.early, c.evaluated, c.found = false, 0, 0, 0
	c.extension = extension{}
}
