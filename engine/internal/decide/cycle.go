package decide

import (
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Cycle is one attempt to place one workload: what goes in, and what each stage
// found. It is used by one goroutine at a time.
type Cycle struct {
	Now       time.Time
	Info      *extpoints.WorkloadInfo
	Framework *framework.Framework
	View      *snapshot.View        // frozen: nobody changes it any more
	State     *extpoints.CycleState // that of run

	// Result is what the try of a group's member came to.
	Result *extpoints.Status
	// Diagnosis says why the workload fits nowhere; nil where it fits, and after a
	// failure.
	Diagnosis *framework.Diagnosis
	// Nominating is what PostFilter plugins have said of the workload's nomination.
	Nominating extpoints.PostFilterResult
	// Unasked: the cycle ended in a way about which PostFilter is not asked.
	Unasked bool
	// Binding is where the workload goes, once a node is selected.
	Binding model.Binding
	// Waits and Permit are what the Permit plugins said.
	Waits  []framework.PermitWait
	Permit *extpoints.Status

	d    *Decider
	tell Observer
	run  *extpoints.Cycle
	// part is the part of the nodes that the placement of its group allows; nil
	// for all.
	part *within
	// found is how many nodes were feasible, where feasible does not list them.
	found int
	// out are the nodes that were left out in the last look, with the reason; further: there
	// may be another look.
	out     map[string]*extpoints.Status
	further bool
	// delays are the nodes that were rejected for the sake of reservations, and delayed those that
	// were when the decision was made that is made again.
	delays  []delay
	delayed map[*extpoints.NodeInfo]*extpoints.Status
	// reasons are why, one for all nodes.
	reasons map[*timeline.Reservation]*extpoints.Status
	// refused are the nodes that filters have rejected which are
	// GroupPostFilter plugins, too.
	refused []refusal
	start   int    // the start index before the search, for the record
	number  uint64 // of the decision, likewise

	all     bool // look at every node, and score even a single one
	keepRaw bool // keep raw scores

	pre               framework.PreFiltered
	nominatedRejected bool // by the filters
	early             int  // how many rejections are from trying the nominated node
	feasible          []*extpoints.NodeInfo
	evaluated         int
	scores            *framework.Scores
	ties              int
	activated         int // how many of the state's activations were taken
	extension
}

// Observer is told what a cycle of the engine's own finds.
type Observer interface {
	Filtered(c *Cycle, evaluated, feasible int)
	Scored(c *Cycle, nodes int, best int64)
	Selected(c *Cycle, ties int)
	// Failed tells of a failure that does not end the cycle.
	Failed(c *Cycle, err error)
}

// Silence is the observer where nobody is told.
type Silence struct{}

// Filtered implements [Observer].
func (Silence) Filtered(*Cycle, int, int) {}

// Scored implements [Observer].
func (Silence) Scored(*Cycle, int, int64) {}

// Selected implements [Observer].
func (Silence) Selected(*Cycle, int) {}

// Failed implements [Observer].
func (Silence) Failed(*Cycle, error) {}

// newCycle makes a cycle; see startCycle.
func (d *Decider) newCycle(now time.Time, info *extpoints.WorkloadInfo, tell Observer, o extpoints.CycleOptions) *Cycle {
	c := &Cycle{}
	d.startCycle(c, now, info, tell, o)
	return c
}

// startCycle starts a cycle on the present view. The options say what belongs to groups.
// A nil observer is nobody.
func (d *Decider) startCycle(c *Cycle, now time.Time, info *extpoints.WorkloadInfo, tell Observer, o extpoints.CycleOptions) {
	if tell == nil {
		tell = Silence{}
	}
	view := d.Record.View.Branch()
	o.View, o.Now = view, now
	run := d.newRun(o)
	// Nodes that are gone by now are not kept by the memory of an earlier decision.
	clear(d.scratch.feasible)
	clear(d.scratch.rejected)
	d.scratch.feasible = d.scratch.feasible[:0]
	d.scratch.positions = d.scratch.positions[:0]
	d.scratch.rejected = d.scratch.rejected[:0]
	*c = Cycle{
		d: d, tell: tell, run: run, Now: now, Info: info, View: view, start: d.start,
		Framework: d.Profiles.Of(info.Workload),
		State:     run.State(),
		Binding:   model.Binding{Workload: info.ID, Limit: info.GrantedLimit},
	}
	c.number = d.decisions
	if d.Meter != nil {
		c.Framework.Measure(c.State, d.Meter.Samples(Mix(c.number)))
	}
}

// Requests are what plugins have asked for in the cycle.
func (c *Cycle) Requests() extpoints.Requests { return c.run.Requests() }

// Asked are the workloads that TakeActivated would return.
func (c *Cycle) Asked() []string {
	return framework.ValidTexts(c.run.Requests().Activations[c.activated:])
}

// TakeActivated returns the workloads that plugins have asked to activate since it
// was last called.
func (c *Cycle) TakeActivated() []string {
	asked := c.Asked()
	c.activated += len(asked)
	return asked
}

// nodes are the nodes that the workload may go to.
func (c *Cycle) nodes() extpoints.Nodes {
	if c.part != nil {
		return c.part.of(c.View)
	}
	return c.View.Nodes()
}

// Refuse makes the diagnosis of a workload that was rejected after its node
// was chosen: that one node is all it is about.
func (c *Cycle) Refuse(st *extpoints.Status) {
	c.Unasked = true
	if !st.IsRejected() {
		c.Diagnosis = nil
		return
	}
	c.Diagnosis = framework.NewDiagnosis(c.View.Nodes(), 1)
	if node := c.View.Nodes().Get(c.Binding.Node); node != nil {
		c.Diagnosis.Reject(node, st)
	}
}

// forgo rejects the workload, for all nodes, before any of them was looked at.
func (c *Cycle) forgo(st *extpoints.Status) {
	nodes := c.View.Nodes()
	c.Refuse(st)
	c.Diagnosis = framework.NewDiagnosis(nodes, nodes.Len())
	c.Diagnosis.RejectAbsent(st)
	c.Diagnosis.Blame(st)
	c.Result = st
}

// extension is what the extenders said in one cycle.
type extension struct {
	// outvoted: extenders ruled out nodes that the filters had left.
	outvoted bool
	// silent are the nodes that an extender left out without a reason, with
	// its name.
	silent map[string]string
	// points are what the extenders that prioritize gave, one entry for each.
	points []ExtenderPoints
	// scored says, by feasible node, whether an extender scored it; nil: none.
	scored []bool
}

// ExtenderPoints is what one extender gave, where it answered.
type ExtenderPoints struct {
	extender *framework.Extender
	answered bool
	points   map[string]int64 // by name of the node
}

// delay is a node that was rejected for the sake of a reservation, and the reason.
type delay struct {
	on  *extpoints.NodeInfo
	why *extpoints.Status
}

// refusal is that the filter of the plugin has rejected a node.
type refusal struct {
	plugin string
	extpoints.Refusal
}

func (c *Cycle) reject(node *extpoints.NodeInfo, v framework.Verdict) {
	c.d.scratch.rejected = append(c.d.scratch.rejected, rejection{node, v})
}
