package engine

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/preempt"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// attempt is one attempt of the engine's own to place what was popped from the queue:
// a workload by itself, or the members of a tree of groups.
type attempt struct {
	*decide.Attempt
	item  *queue.Item
	items map[string]*queue.Item // by member
	// created is the CreateIndex of a workload by itself.
	created uint64
	// objects are what recording the decisions has changed of objects: those that
	// wait are told when the members are not in flight any more.
	objects []store.Change
}

// attemptWorkload runs the scheduling cycle of a workload to its end.
func (r *Raw) attemptWorkload(now time.Time, item *queue.Item, row *store.Workload) {
	r.listener.Popped(PoppedEvent{At: now, Workload: row.Info.Workload, Attempt: item.Attempts})
	a := &attempt{item: item, created: row.CreateIndex}
	a.Attempt = r.decider.Attempt(now, row.Info, port{r})
	a.Search()
	r.carryOut(a)
	if c := a.Lone(); c.Result.IsSuccess() {
		r.goOn(r.cycleOf(a, c))
	} else {
		r.fail(r.cycleOf(a, c), c.Result)
		r.makeRoom(now, preempt.Beneficiary{Workload: row.Info.ID}, a.State)
		r.releaseClaims(now, row.Info.Workload, a.State)
	}
}

// attemptGroup runs the cycle of a tree of groups to its end. (kube-scheduler
// schedule_one_podgroup.go scheduleOnePodGroup, 1.37.1.)
func (r *Raw) attemptGroup(now time.Time, item *queue.Item) {
	root := item.Tree
	r.present(root)
	first := decide.FirstMember(root)
	if first == nil {
		r.queue.AddAttempted(now, item, queue.GroupPlaced) // all gone, or placed by somebody else
		return
	}
	a := &attempt{item: item, items: map[string]*queue.Item{}}
	for _, m := range item.Members {
		a.items[m.ID()] = m
	}
	a.Attempt = r.decider.AttemptGroup(now, root, port{r})
	root.All(func(w *extpoints.WorkloadInfo) bool {
		r.listener.Popped(PoppedEvent{At: now, Workload: w.Workload, Attempt: a.items[w.ID].Attempts})
		return true
	})
	if err := r.decider.CheckMembers(root); err != nil {
		a.Refuse(err)
	} else {
		a.Search()
		r.carryOut(a)
	}
	r.endAttempt(a)
	if a.State != nil {
		r.queue.Activate(now, a.State.Activated()...)
		r.makeRoom(now, preempt.Beneficiary{Group: root.ID}, a.State)
		r.releaseClaims(now, first.Workload, a.State)
	}
}

// present leaves those members in the tree that still wait for a node, as they
// are now.
func (r *Raw) present(g *extpoints.GroupInfo) {
	var members []*extpoints.WorkloadInfo
	for _, w := range g.Members {
		row := r.rec.Workload(w.ID)
		if row == nil || row.Phase != model.Pending {
			r.queue.Done(w.ID)
			continue
		}
		members = append(members, row.Info)
	}
	g.Members = members
	for _, child := range g.Children {
		r.present(child)
	}
}

// carryOut goes on with what was searched for: room is made where it does not fit,
// else it is reserved, recorded, and the Permit plugins are asked.
func (r *Raw) carryOut(a *attempt) {
	if !a.Result.Status.IsSuccess() {
		r.postFilter(a)
		return
	}
	a.objects = a.Reserve()
	if c := a.Lone(); c != nil && c.Result.IsSuccess() {
		r.reserved(c)
	}
	a.Permit()
}

// reserved tells that a member's node is recorded.
func (r *Raw) reserved(c *decide.Cycle) {
	r.listener.Reserved(PlacedEvent{At: c.Now, Workload: c.Info.Workload, Binding: c.Binding})
}

// postFilter gives the plugins a chance to make room. From then on those for whom it
// is made are held back.
func (r *Raw) postFilter(a *attempt) {
	asked, err := a.PostFilter()
	c := a.Lone()
	switch {
	case !asked:
	case c == nil:
		if err != nil {
			r.listener.Failed(FailedEvent{At: a.Now, Err: fmt.Errorf("group %q: %w", a.Root.ID, err)})
		}
		r.room.Plan(preempt.Beneficiary{Group: a.Root.ID}, a.State)
	case err != nil:
		r.listener.Failed(FailedEvent{At: a.Now, Workload: c.Info.ID, Err: err})
	default:
		r.room.Plan(preempt.Beneficiary{Workload: c.Info.ID}, a.State)
	}
}

// cycleOf is the engine's own of the cycle.
func (r *Raw) cycleOf(a *attempt, c *decide.Cycle) *tasks.Member {
	if a.Root == nil {
		return &tasks.Member{Cycle: c, Item: a.item, Created: a.created, Objects: a.objects}
	}
	return &tasks.Member{Cycle: c, Item: a.items[c.Info.ID]}
}

// endAttempt ends the attempt for a tree of groups and all of its members: those that
// have a node, in groups all of which fit, go on to be bound; the others go back to
// the queue.
func (r *Raw) endAttempt(a *attempt) {
	placed := r.endGroup(a, a.Result)
	r.wake.SharedClaims(a.Now, a.objects)
	outcome := queue.GroupFailed
	switch st := a.Result.Status; {
	case st.IsSuccess() && placed > 0:
		outcome = queue.GroupPlaced
	case st.IsSuccess(), st.IsRejected(), a.Result.Before.IsRejected():
		// Also where Permit has turned all of them down, and where it was
		// GroupPostFilter that failed.
		outcome = queue.GroupRejected
	}
	r.queue.AddAttempted(a.Now, a.item, outcome)
}

// endGroup ends the attempt for every member of the group, and returns how many
// have a node.
func (r *Raw) endGroup(a *attempt, result *decide.GroupResult) int {
	g := result.Group
	event := GroupEvent{At: a.Now, Group: g.Group, Code: result.Status.Code(), Message: result.Status.Message(), MakingRoom: a.MakingRoom}
	placed := 0
	for _, child := range result.Children {
		placed += r.endGroup(a, child)
	}
	for i, w := range g.Members {
		var c *decide.Cycle
		if i < len(result.Members) {
			c = result.Members[i]
		}
		if c != nil && c.Result.IsSuccess() && result.Status.IsSuccess() {
			r.reserved(c)
			r.goOn(r.cycleOf(a, c))
			event.Placed++
		} else {
			r.endUnplaced(a, result, w, c)
			event.Unplaced++
		}
	}
	r.listener.Decided(event)
	return placed + event.Placed
}

// endUnplaced ends the attempt for a member that got no node; c is its cycle, nil
// where it was not tried.
func (r *Raw) endUnplaced(a *attempt, result *decide.GroupResult, w *extpoints.WorkloadInfo, c *decide.Cycle) {
	own := c
	fits := c != nil && c.Result.IsSuccess()
	if own == nil || fits {
		own = a.Untried(w)
	}
	clear := &extpoints.NominatingInfo{Mode: extpoints.NominatingOverride}
	st := result.Status
	switch {
	case st.Code() == extpoints.Error:
		if c != nil && c.Result.Code() == extpoints.Error {
			st = c.Result
		}
		own.Diagnosis, own.Nominating = nil, clear
		r.fail(r.cycleOf(a, own), st)
		return
	case c == nil:
		st = result.Before
	case !fits:
		st = c.Result
	case !a.MakingRoom:
		st = extpoints.NewStatus(extpoints.Unschedulable, decide.GroupUnschedulable, st.Message())
		own.Nominating = clear
	}
	if n := a.Nominations[w.ID]; n != nil {
		own.Nominating = n
	}
	r.fail(r.cycleOf(a, own), st)
}

// goOn parks a member that must wait on Permit with its node; any other is ready
// to be bound. PreBindPreFlight comes before the wait, as in kube-scheduler's
// bindingCycle.
func (r *Raw) goOn(c *tasks.Member) {
	t := r.tasks.Bind(c)
	r.activateAsked(c)
	_, failure := c.Framework.PreBindPreFlight(c.State, c.Info, &c.Binding)
	switch {
	case failure != nil:
		r.failBinding(t, failure)
	case c.Permit.IsWait():
		r.wait(t)
	default:
		r.permitted(t)
	}
	if c.Created == 0 {
		c.Created = r.rec.Workload(c.Info.ID).CreateIndex
	}
	r.memory.Remember(c.Cycle, c.Created)
}

// port is what attempts need of the engine.
type port struct{ r *Raw }

var _ decide.Port = port{}

// Filtered implements [decide.Observer].
func (p port) Filtered(c *decide.Cycle, evaluated, feasible int) {
	p.r.listener.Filtered(FilteredEvent{At: c.Now, Workload: c.Info.Workload, Evaluated: evaluated, Feasible: feasible})
}

// Scored implements [decide.Observer].
func (p port) Scored(c *decide.Cycle, nodes int, best int64) {
	p.r.listener.Scored(ScoredEvent{At: c.Now, Workload: c.Info.Workload, Nodes: nodes, Best: best})
}

// Selected implements [decide.Observer].
func (p port) Selected(c *decide.Cycle, ties int) {
	p.r.listener.Selected(SelectedEvent{At: c.Now, Workload: c.Info.Workload, Node: c.Binding.Node, Ties: ties})
}

// Failed implements [decide.Observer].
func (p port) Failed(c *decide.Cycle, err error) {
	p.r.listener.Failed(FailedEvent{At: c.Now, Workload: c.Info.ID, Err: err})
}

// Commit implements [decide.Port].
func (p port) Commit(now time.Time, tx *store.Txn) []store.Change { return p.r.commitOwn(now, tx) }

// TurnedDown implements [decide.Port].
func (p port) TurnedDown(c *decide.Cycle) { p.r.giveBack(c) }

// unreserve calls Unreserve of all Reserve plugins.
func (r *Raw) unreserve(c *decide.Cycle) {
	for _, err := range c.Framework.Unreserve(c.State, c.Info, &c.Binding) {
		r.listener.Failed(FailedEvent{At: c.Now, Workload: c.Info.ID, Err: err})
	}
}

// giveBack undoes what was reserved and recorded for a member that is not to go on.
func (r *Raw) giveBack(c *decide.Cycle) {
	r.unreserve(c)
	tx := r.rec.Begin()
	if err := tx.Forget(c.Info.ID); err != nil {
		tx.Abort() // gone, or confirmed meanwhile: nothing to take back
		return
	}
	// Nobody has seen it, so nobody needs to be told.
	r.commitOwn(c.Now, tx)
}
