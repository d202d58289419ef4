package engine

import (
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// cycle is one attempt to place one workload: what goes in, and what each
// stage found. It is used by one goroutine at a time.
type cycle struct {
	core  *core
	now   time.Time
	info  *extpoints.WorkloadInfo
	fw    *framework.Framework
	view  *snapshot.View // frozen: nobody changes it any more
	state *extpoints.CycleState
	item  *queue.Item // nil on a branch
	// created is the CreateIndex of the workload's row.
	created uint64
	// part is the part of the nodes that the placement of its group allows; nil
	// for all. result is what the try of a group's member came to.
	part   *within
	result *extpoints.Status
	// waits and permit are what Permit said of a group's member.
	waits  []framework.PermitWait
	permit *extpoints.Status
	found  int // how many nodes were feasible for it
	// refused are the nodes that filters have turned down which are
	// GroupPostFilter plugins, too.
	refused []refusal
	tell    *Listener // nil: nobody is told
	start   int       // the start index before the search, for the record
	number  uint64    // of the decision, likewise

	all     bool // look at every node, and score even a single one
	keepRaw bool // keep raw scores

	pre               framework.PreFiltered
	nominatedRejected bool // by the filters
	early             int  // how many rejections are from trying the nominated node
	feasible          []*extpoints.NodeInfo
	evaluated         int
	diagnosis         *Diagnosis
	scores            *framework.Scores
	ties              int
	nominating        *extpoints.NominatingInfo
	activated         int // how many of the state's activations are carried out
	binding           model.Binding
	objects           []store.Change // what recording the decision has changed, as long as nobody was told
	extension
}

// Diagnosis says why a workload fits nowhere: node by node, and in one line.
type Diagnosis = framework.Diagnosis

// newCycle starts a cycle on the core's present view.
func (c *core) newCycle(now time.Time, info *extpoints.WorkloadInfo) *cycle {
	c.decisions++
	view := c.rec.View.Branch()
	c.scratch.feasible = c.scratch.feasible[:0]
	c.scratch.positions = c.scratch.positions[:0]
	c.scratch.rejected = c.scratch.rejected[:0]
	cycle := &cycle{
		core: c, now: now, info: info, view: view, start: c.start, number: c.decisions,
		fw:      c.framework(info.Workload),
		state:   extpoints.NewCycleState(c.context(), view, now, mix(c.cfg.Seed^mix(c.decisions))),
		binding: model.Binding{Workload: info.ID},
	}
	if c.meter != nil {
		cycle.fw.Measure(cycle.state, c.meter.samples(c.decisions))
	}
	return cycle
}

// nodes are the nodes that the workload may go to.
func (c *cycle) nodes() extpoints.Nodes {
	if c.part != nil {
		return c.part.of(c.view.Nodes())
	}
	return c.view.Nodes()
}

// raise tells the listener, where there is one.
func (c *cycle) raise(f func(*Listener)) {
	if c.tell != nil {
		f(c.tell)
	}
}

// run takes the workload through the scheduling cycle, one stage a line. What
// it returns is handled by failure.go; success means that a binding task is
// made, which may have to wait on Permit first.
func (r *Raw) run(c *cycle) *extpoints.Status {
	if st := c.decide(); st != nil { // prefilter, filter, prescore, score, select
		return r.postFilter(c, st)
	}
	if st := r.reserve(c); st != nil {
		return st
	}
	return r.permit(c)
}

// postFilter gives the PostFilter plugins a chance to make room for a workload
// that fits nowhere. The workload stays unschedulable in this cycle.
func (r *Raw) postFilter(c *cycle, st *extpoints.Status) *extpoints.Status {
	c.nominating = &extpoints.NominatingInfo{Mode: extpoints.NominatingOverride} // clears
	if c.diagnosis == nil || !c.fw.HasPostFilter() {
		return st
	}
	c.nominating = nil
	result, after := c.fw.PostFilter(c.state, c.info, c.diagnosis)
	c.diagnosis.PostFilterMessage = framework.PostFilterMessage(after)
	if after.Code() == extpoints.Error {
		r.listener.Failed(FailedEvent{At: c.now, Workload: c.info.ID, Err: after.AsError()})
		return st
	}
	if result != nil {
		c.nominating = result.NominatingInfo
	}
	r.planRoom(c.info.ID, c.state)
	return st
}

// reserve sets aside what the workload needs on its node and records the
// decision: one transaction. (kube-scheduler assumes first and reserves then;
// since nobody sees the state in between the order makes no difference, and a
// Reserve that fails leaves nothing to take back.)
func (r *Raw) reserve(c *cycle) *extpoints.Status {
	st := c.fw.Reserve(c.state, c.info, &c.binding)
	if st == nil {
		if err := r.assume(c); err != nil {
			st = extpoints.AsStatus(err)
		}
	}
	if st != nil {
		r.unreserve(c)
		c.refuse(st)
		return st
	}
	r.listener.Reserved(PlacedEvent{At: c.now, Workload: c.info.Workload, Binding: c.binding})
	return nil
}

// assume writes the decision into the store.
func (r *Raw) assume(c *cycle) error {
	tx := r.rec.Begin()
	if _, err := tx.Assume(c.binding, c.now); err != nil {
		tx.Abort()
		return err
	}
	c.objects = r.commitOwn(c.now, tx)
	return nil
}

// permit asks the Permit plugins and goes on as they say.
func (r *Raw) permit(c *cycle) *extpoints.Status {
	waits, st := c.fw.Permit(c.state, c.info, &c.binding)
	if !st.IsSuccess() && !st.IsWait() {
		r.turnDown(c, st)
		return st
	}
	r.goOn(c, waits, st)
	return nil
}

// turnDown takes the decision back: what the Permit plugins have not let through.
func (r *Raw) turnDown(c *cycle, st *extpoints.Status) {
	r.giveBack(c)
	c.refuse(st)
}

// goOn parks a workload that must wait on Permit with its node; any other is ready
// to be bound. PreBindPreFlight comes before the wait, as in kube-scheduler's
// bindingCycle.
func (r *Raw) goOn(c *cycle, waits []framework.PermitWait, st *extpoints.Status) {
	t := r.newBinding(c)
	r.activateAsked(c)
	_, failure := c.fw.PreBindPreFlight(c.state, c.info, &c.binding)
	switch {
	case failure != nil:
		r.failBinding(t, failure)
	case st.IsWait():
		r.wait(t, waits)
	default:
		r.permitted(t)
	}
}

// refuse makes the diagnosis of a workload that was rejected after its node
// was chosen: that one node is all it is about.
func (c *cycle) refuse(st *extpoints.Status) {
	c.nominating = &extpoints.NominatingInfo{Mode: extpoints.NominatingOverride}
	if !st.IsRejected() {
		c.diagnosis = nil
		return
	}
	c.diagnosis = framework.NewDiagnosis(c.view.Nodes(), 1)
	if node := c.view.Nodes().Get(c.binding.Node); node != nil {
		c.diagnosis.Reject(node, st)
	}
}

// unreserve calls Unreserve of all Reserve plugins.
func (r *Raw) unreserve(c *cycle) {
	for _, err := range c.fw.Unreserve(c.state, c.info, &c.binding) {
		r.listener.Failed(FailedEvent{At: c.now, Workload: c.info.ID, Err: err})
	}
}

// giveBack undoes reserve.
func (r *Raw) giveBack(c *cycle) {
	r.unreserve(c)
	tx := r.rec.Begin()
	if err := tx.Forget(c.info.ID); err != nil {
		tx.Abort() // gone, or confirmed meanwhile: nothing to take back
		return
	}
	// Nobody has seen it, so nobody needs to be told.
	r.commitOwn(c.now, tx)
	c.objects = nil
}
