package decide

import (
	"iter"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/extpoints"
)

// What follows is what a cycle found, for those who explain it. It holds until the
// decider's next cycle.

// Nodes are the nodes that the workload may go to, in visiting order.
func (c *Cycle) Nodes() extpoints.Nodes { return c.nodes() }

// LooksAtAll reports whether every node is looked at.
func (c *Cycle) LooksAtAll() bool { return c.all }

// Rejected are the nodes that filters or extenders have rejected, with the reason.
func (c *Cycle) Rejected() iter.Seq2[*extpoints.NodeInfo, *extpoints.Status] {
	return func(yield func(*extpoints.NodeInfo, *extpoints.Status) bool) {
		for _, r := range c.d.scratch.rejected {
			if !yield(r.node, r.verdict.Named()) {
				return
			}
		}
	}
}

// LeftOut are the nodes that an extender left out without a reason, with its name.
func (c *Cycle) LeftOut() map[string]string { return c.silent }

// NotThere are the nodes that were left out because they could not start this workload, or
// others, by name and with the reason.
func (c *Cycle) NotThere() map[string]*extpoints.Status { return c.out }

// Feasible are the feasible nodes, in the order in which they were found.
func (c *Cycle) Feasible() []*extpoints.NodeInfo { return c.feasible }

// Counts says how many nodes were looked at, how many of them are feasible, and how
// many shared the highest total.
func (c *Cycle) Counts() (evaluated, feasible, ties int) {
	return c.evaluated, max(len(c.feasible), c.found), c.ties
}

// Scores are those of the feasible nodes; nil where a single one needed none.
func (c *Cycle) Scores() *framework.Scores { return c.scores }

// Points are what the extenders that prioritize gave, in their order.
func (c *Cycle) Points() []ExtenderPoints { return c.points }

// PreFiltered is what PreFilter said.
func (c *Cycle) PreFiltered() *framework.PreFiltered { return &c.pre }

// TryTree tries to place a tree of groups, for those who explain why it is not placed: the
// status, the members that would be placed, and all that were tried, in that order.
func (d *Decider) TryTree(now time.Time, root *extpoints.GroupInfo) (st *extpoints.Status, chosen, tried []*Cycle) {
	t := &groupTry{d: d, now: now, fw: d.Profiles.Of(FirstMember(root).Workload)}
	result := t.try(root)
	return result.Status, result.chosen(nil), result.tried(nil)
}
