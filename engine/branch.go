package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Branch is a copy of the cluster to try things out on: apply what might
// happen, place what might be submitted, and read what came of it. It runs the
// same code as the engine and touches neither the engine nor the
// orchestrator. Taking a branch is O(1); branches of branches are branches; as
// many as wanted may live side by side, each used by one goroutine at a time.
// A branch that is no longer needed is simply dropped.
type Branch struct {
	core *core
}

// Branch returns a branch of the engine as it is now.
func (r *Raw) Branch() *Branch { return &Branch{core: r.branch()} }

// Branch returns a branch of b as it is now.
func (b *Branch) Branch() *Branch { return &Branch{core: b.core.branch()} }

// View returns the branch's facts as they are now.
func (b *Branch) View() *View { return &View{store: b.core.rec.Store.Snapshot()} }

// Apply makes the changes on the branch, all or none; see [Raw.Apply].
func (b *Branch) Apply(now time.Time, changes ...Change) error {
	tx := b.core.rec.Begin()
	if err := b.core.write(tx, now, changes); err != nil {
		tx.Abort()
		return err
	}
	b.core.rec.Commit(tx)
	return nil
}

// Decision is what a cycle came to.
type Decision struct {
	// Binding is where the workload goes; Node is empty where it fits nowhere.
	Binding model.Binding
	// Evaluated and Feasible count nodes; Ties is how many shared the highest
	// score.
	Evaluated, Feasible, Ties int
	// Message is the one-line summary of why it fits nowhere, Plugins the
	// plugins that rejected it.
	Message string
	Plugins []string
	// Nominated is the node that PostFilter nominated, Evictions what it wants
	// displaced, where it fits nowhere.
	Nominated string
	Evictions []extpoints.Eviction
}

// Placed reports whether the workload got a node.
func (d *Decision) Placed() bool { return d.Binding.Node != "" }

// Schedule runs the scheduling cycle for a pending workload of the branch, from
// PreFilter up to and including Reserve, and if it gets a node puts it there on
// the branch. A plan is about room: what holds a workload back from the queue
// (PreEnqueue) is not asked.
// That it fits nowhere is not an error; a plugin that fails is. A member of a
// group is placed as if it were by itself; see ScheduleGroup.
func (b *Branch) Schedule(now time.Time, id string) (Decision, error) {
	row := b.core.rec.Workload(id)
	if row == nil {
		return Decision{}, fmt.Errorf("schedule workload %q on a branch: %w", id, ErrNotFound)
	}
	if row.Phase != model.Pending {
		return Decision{}, fmt.Errorf("schedule workload %q on a branch: it is %v, not Pending", id, row.Phase)
	}
	c := b.core.newCycle(now, row.Info)
	c.state.SetTrial(true)
	st := c.decide()
	if st == nil {
		st = b.reserve(c)
	} else if c.diagnosis != nil && c.fw.HasPostFilter() {
		b.postFilter(c)
	}
	d := c.outcome(st)
	if st != nil && c.diagnosis == nil && !errors.Is(st.AsError(), ErrNoNodes) {
		return d, fmt.Errorf("schedule workload %q on a branch: %w", id, st.AsError())
	}
	return d, nil
}

// reserve is the branch's own: nothing is told to anybody.
func (b *Branch) reserve(c *cycle) *extpoints.Status {
	st := c.fw.Reserve(c.state, c.info, &c.binding)
	if st == nil {
		tx := b.core.rec.Begin()
		if _, err := tx.Assume(c.binding, c.now); err != nil {
			tx.Abort()
			c.fw.Unreserve(c.state, c.info, &c.binding)
			return extpoints.AsStatus(err)
		}
		b.core.rec.Commit(tx)
		return nil
	}
	c.fw.Unreserve(c.state, c.info, &c.binding)
	c.refuse(st)
	return st
}

// postFilter asks what would be displaced; nothing is.
func (b *Branch) postFilter(c *cycle) {
	result, st := c.fw.PostFilter(c.state, c.info, c.diagnosis)
	c.diagnosis.PostFilterMessage = framework.PostFilterMessage(st)
	if result != nil {
		c.nominating = result.NominatingInfo
	}
}

// outcome says what the cycle came to.
func (c *cycle) outcome(st *extpoints.Status) Decision {
	d := Decision{Evaluated: c.evaluated, Feasible: max(len(c.feasible), c.found)}
	if st == nil {
		d.Binding, d.Ties = c.binding, c.ties
		return d
	}
	d.Message = st.Message()
	if c.diagnosis != nil {
		d.Message, d.Plugins = c.diagnosis.Message(), c.diagnosis.UnschedulablePlugins()
	}
	if c.nominating != nil {
		d.Nominated = c.nominating.Node
	}
	d.Evictions = c.state.Evictions()
	return d
}
