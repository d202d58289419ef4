package engine

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/preempt"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// attempt is one attempt of the engine's own to place what was popped from the queue:
// a lone workload, or the members of a tree of groups.
type attempt struct {
	*decide.Attempt
	item  *queue.Item
	items map[string]*queue.Item // by member
	// created is the CreateIndex of a lone workload.
	created uint64
	// fits: places were found that delay nobody.
	fits bool
	// reserved: it has a reservation itself. single: it was rejected for the sake of one that may not
	// be in the way of others of its class.
	reserved, single bool
	// objects are what recording the decisions has changed of objects: those that
	// wait are told when the members are not in flight any more.
	objects []store.Change
}

// attempt makes an attempt for what was popped from the queue. It reports whether anything
// of it still waits.
func (s scheduling) attempt(now time.Time, item *queue.Item) bool {
	if item.Group != nil {
		s.attemptGroup(now, item)
		return true
	}
	row := s.rec.Workload(item.ID())
	if row == nil || row.Phase != model.Pending {
		s.queue.Done(item.ID()) // gone, or placed by somebody else
		return false
	}
	s.attemptWorkload(now, item, row)
	return true
}

// attemptWorkload runs the scheduling cycle of a workload to its end.
func (s scheduling) attemptWorkload(now time.Time, item *queue.Item, row *store.Workload) {
	s.popped(now, row.Info.Workload, item)
	a := &attempt{item: item, created: row.CreateIndex}
	s.heed(now, item)
	a.reserved = s.plan.Reserved(item)
	s.decider.Refuse = watched(s.decider.Refuse, a)
	a.Attempt = s.decider.Attempt(now, row.Info, port{s})
	if !s.bars(a) {
		a.Search()
		s.carryOut(a)
		item.Class = s.classOf(now, a.Attempt) // of what is barred it is what it was
	}
	if a.single {
		item.Class = ""
	}
	if c := a.Lone(); c.Result.IsSuccess() {
		s.goOn(s.cycleOf(a, c))
		s.heeded(item, a.fits, a.Delays())
	} else {
		s.fail(s.cycleOf(a, c), c.Result)
		s.heeded(item, a.fits, a.Delays())
		s.makeRoom(now, preempt.Beneficiary{Workload: row.Info.ID}, a.Requests())
		s.releaseClaims(now, row.Info.Workload, a.Requests())
	}
}

// popped tells that an attempt to place the workload begins.
func (s scheduling) popped(now time.Time, w *model.Workload, item *queue.Item) {
	s.listener.Popped(PoppedEvent{At: now, Workload: w, Attempt: item.Attempts})
	if item.Attempts == 1 {
		s.checkTopology(now, w)
	}
}

// attemptGroup runs the cycle of a tree of groups to its end. (kube-scheduler
// schedule_one_podgroup.go scheduleOnePodGroup, 1.37.1.)
func (s scheduling) attemptGroup(now time.Time, item *queue.Item) {
	root := item.Tree
	s.present(root)
	first := decide.FirstMember(root)
	if first == nil {
		s.queue.AddAttempted(now, item, queue.GroupPlaced) // all gone, or placed by somebody else
		return
	}
	a := &attempt{item: item, items: map[string]*queue.Item{}}
	for _, m := range item.Members {
		a.items[m.ID()] = m
	}
	s.heed(now, item)
	a.Attempt = s.decider.AttemptGroup(now, root, port{s})
	root.All(func(w *extpoints.WorkloadInfo) bool {
		s.popped(now, w.Workload, a.items[w.ID])
		return true
	})
	if err := s.decider.CheckMembers(root); err != nil {
		a.Refuse(err)
	} else if !s.bars(a) {
		a.Search()
		s.carryOut(a)
	}
	s.endAttempt(a)
	s.heeded(item, a.fits, a.Delays())
	if a.Searched() {
		asked := a.Requests()
		s.queue.Activate(now, asked.Activations...)
		s.makeRoom(now, preempt.Beneficiary{Group: root.ID}, asked)
		s.releaseClaims(now, first.Workload, asked)
	}
}

// present leaves those members in the tree that still wait for a node, as they
// are now.
func (s scheduling) present(g *extpoints.GroupInfo) {
	var members []*extpoints.WorkloadInfo
	for _, w := range g.Members {
		row := s.rec.Workload(w.ID)
		if row == nil || row.Phase != model.Pending {
			s.queue.Done(w.ID)
			continue
		}
		members = append(members, row.Info)
	}
	g.Members = members
	for _, child := range g.Children {
		s.present(child)
	}
}

// carryOut goes on with what was searched for: room is made where it does not fit,
// else it is reserved, recorded, and the Permit plugins are asked.
func (s scheduling) carryOut(a *attempt) {
	s.delays(a)
	s.startsAsPlanned(a)
	s.keepsQuota(a)
	if !a.Result.Status.IsSuccess() {
		s.postFilter(a)
		return
	}
	a.fits = true
	a.objects = a.Reserve()
	if c := a.Lone(); c != nil && c.Result.IsSuccess() {
		s.reserved(c)
	}
	a.Permit()
}

// bars rejects an attempt, which is not to be carried out then, where this would delay others
// wherever it started: by a quota or a limit, or as something like it would have.
func (s scheduling) bars(a *attempt) bool {
	if s.plan == nil || s.decider.Refuse == nil {
		return false
	}
	e := entityOf(a)
	if e.Info != nil && e.Info.MinLimit > 0 {
		return false // the search asks, with the limit that it may be granted
	}
	r := s.plan.Bars(a.Now, a.item, e)
	if r != nil {
		a.refused(r)
		a.Forgo(decide.WouldDelay(r))
	}
	return r != nil
}

// entityOf is what the attempt is for.
func entityOf(a *attempt) *timeline.Entity {
	e := &timeline.Entity{Tree: a.Root}
	if c := a.Lone(); c != nil {
		e.Info = c.Info
	}
	return e
}

// delays turns an attempt down that has found places, where they would, all together,
// delay those before it.
func (s scheduling) delays(a *attempt) {
	if s.plan == nil || s.decider.Refuse == nil || !a.Result.Status.IsSuccess() {
		return
	}
	if r := s.plan.Placing(a.Now, a.item, entityOf(a), a.Places()); r != nil {
		a.TurnDown(decide.WouldDelay(r))
	}
}

// startsAsPlanned lets a tree of groups go where it is planned to be, if it is to start by
// now and has found no other places.
func (s scheduling) startsAsPlanned(a *attempt) {
	if s.plan == nil || a.Root == nil || a.Result.Status.IsSuccess() {
		return
	}
	if nodes := s.plan.Due(a.Now, a.item); nodes != nil && a.SearchIn(nodes) {
		s.delays(a)
	}
}

// keepsQuota fails an attempt that has found places for what a quota or a limit holds back.
func (s scheduling) keepsQuota(a *attempt) {
	if a.item.Hopeless && a.Result.Status.IsSuccess() {
		a.TurnDown(extpoints.AsStatus(errHope))
	}
}

// reserved tells that a member's node is recorded.
func (s scheduling) reserved(c *decide.Cycle) {
	s.listener.Reserved(placedEvent("Reserved", c.Now, c))
}

// postFilter gives the plugins a chance to make room. From then on those for whom it
// is made are held back.
func (s scheduling) postFilter(a *attempt) {
	if s.decider.Refuse != nil {
		return // room is for those before it
	}
	asked, err := a.PostFilter()
	c := a.Lone()
	switch {
	case !asked:
	case c == nil:
		if err != nil {
			s.listener.Failed(FailedEvent{At: a.Now, Err: fmt.Errorf("group %q: %w", a.Root.ID, err)})
		}
		s.room.Plan(preempt.Beneficiary{Group: a.Root.ID}, a.Requests())
	case err != nil:
		s.listener.Failed(FailedEvent{At: a.Now, Workload: c.Info.ID, Err: err})
	default:
		s.room.Plan(preempt.Beneficiary{Workload: c.Info.ID}, a.Requests())
	}
}

// watched is the refusal, of which the attempt takes note.
func watched(refuse timeline.Refusal, a *attempt) timeline.Refusal {
	if refuse == nil {
		return nil
	}
	return func(w *extpoints.WorkloadInfo, node string) *timeline.Reservation {
		r := refuse(w, node)
		if r != nil {
			a.refused(r)
		}
		return r
	}
}

// refused takes note of a reservation that the attempt would delay. Those of the class, which are behind it, would
// delay it as well, except in two cases: what has a reservation itself must not delay those behind it either, which
// may be theirs; and what is to start there may look at the labels of others, which a class does not.
func (a *attempt) refused(r *timeline.Reservation) {
	looks := func(w *extpoints.WorkloadInfo) bool {
		return w.Affinity != nil || w.AntiAffinity != nil || len(w.Spread) > 0
	}
	a.single = a.single || a.reserved ||
		r.Info != nil && looks(r.Info) ||
		r.Tree != nil && !r.Tree.All(func(w *extpoints.WorkloadInfo) bool { return !looks(w) })
}

// cycleOf is the engine's own of the cycle.
func (s scheduling) cycleOf(a *attempt, c *decide.Cycle) *tasks.Member {
	if a.Root == nil {
		return &tasks.Member{Cycle: c, Item: a.item, Created: a.created, Objects: a.objects}
	}
	return &tasks.Member{Cycle: c, Item: a.items[c.Info.ID]}
}

// endAttempt ends the attempt for a tree of groups and all of its members: those that
// have a node, in groups all of which fit, go on to be bound; the others go back to
// the queue.
func (s scheduling) endAttempt(a *attempt) {
	placed := s.endGroup(a, a.Result)
	s.wake.SharedClaims(a.Now, a.objects)
	outcome := queue.GroupFailed
	switch st := a.Result.Status; {
	case st.IsSuccess() && placed > 0:
		outcome = queue.GroupPlaced
	case s.cfg.Compat == extpoints.Improved && a.MakingRoom && !s.roomIsMade(a.Root):
		outcome = queue.GroupNominated
	case st.IsSuccess(), st.IsRejected(), a.Result.Before.IsRejected():
		// Also where Permit has turned all of them down, and where it was
		// GroupPostFilter that failed.
		outcome = queue.GroupRejected
	}
	s.queue.AddAttempted(a.Now, a.item, outcome)
}

// roomIsMade reports whether room is being made where members of the tree are nominated. It is not where the group fits
// with nobody displaced, on other nodes than those that the search came to.
func (s scheduling) roomIsMade(root *extpoints.GroupInfo) bool {
	return !root.All(func(w *extpoints.WorkloadInfo) bool {
		row := s.rec.Workload(w.ID)
		return row == nil || !s.makingRoom(w.ID, row.Info.Nominated)
	})
}

// endGroup ends the attempt for every member of the group, and returns how many
// have a node.
func (s scheduling) endGroup(a *attempt, result *decide.GroupResult) int {
	g := result.Group
	st := result.Status
	event := GroupEvent{
		At: a.Now, Group: g.Group, Code: st.Code(), Message: st.Message(), Plugin: st.Plugin(), Preempting: a.MakingRoom,
	}
	placed := 0
	for _, child := range result.Children {
		placed += s.endGroup(a, child)
	}
	for i, w := range g.Members {
		var c *decide.Cycle
		if i < len(result.Members) {
			c = result.Members[i]
		}
		if c != nil && c.Result.IsSuccess() && result.Status.IsSuccess() {
			s.reserved(c)
			s.goOn(s.cycleOf(a, c))
			event.Placed++
		} else {
			s.endUnplaced(a, result, w, c)
			event.Unplaced++
		}
	}
	s.listener.Decided(event)
	return placed + event.Placed
}

// endUnplaced ends the attempt for a member that got no node; c is its cycle, nil
// where it was not tried.
func (s scheduling) endUnplaced(a *attempt, result *decide.GroupResult, w *extpoints.WorkloadInfo, c *decide.Cycle) {
	own := c
	fits := c != nil && c.Result.IsSuccess()
	if own == nil || fits {
		own = a.Untried(w)
	}
	own.Nominating = a.Nominating(w.ID, s.cfg.Compat == extpoints.Improved)
	st := result.Status
	switch {
	case st.Code() == extpoints.Error:
		if c != nil && c.Result.Code() == extpoints.Error {
			st = c.Result
		}
		own.Diagnosis, own.Unasked = nil, true
	case c == nil:
		st = result.Before
	case !fits:
		st = c.Result
	case !a.MakingRoom:
		st = extpoints.NewStatus(extpoints.Unschedulable, decide.GroupUnschedulable, st.Message())
		own.Unasked = true
	}
	s.fail(s.cycleOf(a, own), st)
}

// goOn parks a member that must wait on Permit with its node; any other is ready
// to be bound. PreBindPreFlight comes before the wait, as in kube-scheduler's
// bindingCycle.
func (s scheduling) goOn(c *tasks.Member) {
	t := s.tasks.Bind(c)
	s.activateAsked(c)
	_, failure := c.Framework.PreBindPreFlight(c.State, c.Info, &c.Binding)
	switch {
	case failure != nil:
		s.failBinding(t, failure)
	case c.Permit.Code() == extpoints.Wait:
		s.placedOn(c.Cycle)
		s.queue.Placed(c.Info.ID)
		s.wait(t)
	default:
		s.placedOn(c.Cycle)
		s.permitted(t)
	}
	if c.Created == 0 {
		c.Created = s.rec.Workload(c.Info.ID).CreateIndex
	}
	s.memory.Remember(c.Cycle, c.Created)
}

// port is what attempts need of the engine.
type port struct{ s scheduling }

var _ decide.Port = port{}

// Filtered implements [decide.Observer].
func (p port) Filtered(c *decide.Cycle, evaluated, feasible int) {
	p.s.listener.Filtered(FilteredEvent{At: c.Now, Workload: c.Info.Workload, Evaluated: evaluated, Feasible: feasible})
}

// Scored implements [decide.Observer].
func (p port) Scored(c *decide.Cycle, nodes int, best int64) {
	p.s.listener.Scored(ScoredEvent{At: c.Now, Workload: c.Info.Workload, Nodes: nodes, Best: best})
}

// Selected implements [decide.Observer].
func (p port) Selected(c *decide.Cycle, ties int) {
	p.s.listener.Selected(SelectedEvent{At: c.Now, Workload: c.Info.Workload, Node: c.Binding.Node, Ties: ties})
}

// Failed implements [decide.Observer].
func (p port) Failed(c *decide.Cycle, err error) {
	p.s.listener.Failed(FailedEvent{At: c.Now, Workload: c.Info.ID, Err: err})
}

// Commit implements [decide.Port].
func (p port) Commit(now time.Time, tx *store.Txn) []store.Change { return p.s.commitOwn(now, tx) }

// TurnedDown implements [decide.Port].
func (p port) TurnedDown(c *decide.Cycle) { p.s.giveBack(c) }

// giveBack undoes what was reserved and recorded for a member that is not to go on.
func (s scheduling) giveBack(c *decide.Cycle) {
	s.unreserve(c)
	tx := s.rec.Begin()
	defer tx.Abort()
	if err := tx.Forget(c.Info.ID); err == nil { // else gone, or confirmed meanwhile: nothing to take back
		s.commitOwn(c.Now, tx) // nobody has seen it, so nobody needs to be told
	}
}
