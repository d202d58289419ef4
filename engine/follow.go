package engine

import (
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// commit makes the transaction part of the record and lets the rest follow: first the
// whole view, then the queue, so that all that is woken sees the whole change.
func (f facts) commit(now time.Time, tx *store.Txn) {
	facts := f.rec.Commit(tx)
	for i := range facts {
		f.follow(now, &facts[i])
	}
	f.changed(now, facts)
	f.queue.Reorder(now) // once, for all that belongs together
}

// commitObjects is commit where only objects are different to others.
func (f facts) commitObjects(now time.Time, tx *store.Txn) {
	facts := f.rec.Commit(tx)
	for i := range facts {
		if facts[i].Kind == store.ObjectKind {
			f.follow(now, &facts[i])
		}
	}
	f.queue.Reorder(now)
}

// commitOwn is commit for a decision of the engine's own. What it changes of
// objects is returned and not told: to the workload in flight it would be an event
// like any other, so that a decision that is taken back would wake the very
// workload it was about.
func (f facts) commitOwn(now time.Time, tx *store.Txn) (objects []store.Change) {
	facts := f.rec.Commit(tx)
	for i := range facts {
		if facts[i].Kind == store.ObjectKind {
			objects = append(objects, facts[i])
			f.plan.Follow(&facts[i])
		} else {
			f.follow(now, &facts[i])
		}
	}
	return objects
}

// tellGivenBack tells of objects about which nothing is decided any more for the
// sake of the workload with the ID, which need not be told.
func (f facts) tellGivenBack(now time.Time, objects []store.Change, id string) {
	for i := range objects {
		f.wake.Object(now, &objects[i], id)
	}
}

// follow lets preemptions, tasks, queue and listeners follow one fact.
func (f facts) follow(now time.Time, fact *store.Change) {
	f.plan.Follow(fact)
	switch fact.Kind {
	case store.WorkloadKind:
		if w := fact.NewWorkload; w == nil || w.Phase != model.Pending {
			delete(f.heldBack, fact.ID())
		}
		f.leaves(now, fact)
		if f.cfg.Order == OrderByQueues {
			charge(f.queue, now, fact.OldWorkload, fact.NewWorkload)
		}
		f.forecasts.follow(now, fact.OldWorkload, fact.NewWorkload)
		f.room.Follow(fact.OldWorkload, fact.NewWorkload)
		f.followWorkload(now, fact.OldWorkload, fact.NewWorkload)
		f.lostRoomTo(now, fact.OldWorkload, fact.NewWorkload)
		return
	case store.NodeKind:
		offer(f.queue, fact.OldNode, fact.NewNode)
		if fact.NewNode == nil {
			f.nodeGone(fact.ID())
		}
	case store.GroupKind:
		f.queue.GroupChanged(now, fact.ID())
		f.room.FollowGroup(fact.ID())
	case store.ObjectKind:
		define(f.queue, fact)
		if isHold(fact.OldObject.Current(), fact.NewObject.Current()) {
			f.holdsChanged(now)
		}
	}
	f.wake.Fact(now, fact)
	switch fact.Kind {
	case store.NodeKind:
		f.lostRoomOn(now, fact)
	case store.ObjectKind:
		f.lostRoomBy(now, fact.OldObject.Current(), fact.NewObject.Current())
	}
}

// nodeGone ends what is about a node that is gone.
func (f facts) nodeGone(name string) {
	f.decider.NodeGone()
	if f.cfg.Compat == extpoints.Improved {
		f.tasks.CancelTo(name, ErrNodeRemoved)
	}
}

// followWorkload follows a workload's move from one phase to another. What the
// scheduling cycle itself does (assume, forget, bind, nominate) is followed
// where it happens.
func (f facts) followWorkload(now time.Time, before, after *store.Workload) {
	if before != nil && after != nil && before.CreateIndex != after.CreateIndex {
		// Removed and submitted again in one transaction: another workload.
		f.removed(now, before, nil)
		before = nil
	}
	switch {
	case before == nil:
		f.submitted(now, after)
	case after == nil || after.Phase == model.Finished:
		f.removed(now, before, after)
	case after.Phase == model.Pending && before.Phase == model.Pending:
		if before.Info.Workload != after.Info.Workload {
			delete(f.rooms, after.Info.ID)
		}
		if before.Info.Workload != after.Info.Workload && f.tasks.Of(after.Info.ID) == nil {
			f.wake.Changed(now, before, after)
			f.lostRoomByItself(now, before, after)
		}
		if before.NominatedTo() != after.NominatedTo() {
			f.queue.Apart(after.Info.ID)
			f.wake.Freed(now, before)
		}
	case after.Phase == model.Pending:
		// Where the engine itself takes a decision back there is no task.
		if before.Phase != model.Assumed || f.tasks.Of(before.Info.ID) != nil {
			f.requeued(now, before, after)
		}
	case after.Phase == model.Terminating && before.Phase != model.Terminating:
		f.terminating(now, before, after)
	case after.Phase == model.Confirmed && (before.Phase != model.Confirmed || before.Node != after.Node):
		f.confirmed(now, before, after)
	case after.Phase == model.Assumed || after.Phase == model.Bound:
		f.onItsWay(now, before, after)
	default:
		f.wake.Updated(now, before, after)
	}
}

// leaves notes since when a workload is terminating.
func (f facts) leaves(now time.Time, fact *store.Change) {
	before, after := fact.OldWorkload, fact.NewWorkload
	switch {
	case after == nil || after.Phase != model.Terminating:
		delete(f.leaving, fact.ID())
	case before == nil || before.Phase != model.Terminating || before.CreateIndex != after.CreateIndex:
		f.leaving[fact.ID()] = now
	}
}

// submitted follows a workload that became known.
func (f facts) submitted(now time.Time, after *store.Workload) {
	f.listener.Submitted(SubmittedEvent{At: now, Workload: after.Info.Workload})
	if after.Phase == model.Pending {
		f.enqueue(now, after.Info)
		return
	}
	was := &store.Workload{Info: after.Info} // what it was submitted as
	if after.TakesRoomOn() != "" {
		f.confirmed(now, nil, after)
		was.Phase, was.Node = model.Confirmed, after.Node
	}
	switch after.Phase { // ended before it began
	case model.Terminating:
		f.listener.Terminating(leavingEvent("Terminating", now, was))
	case model.Finished:
		f.listener.Finished(leavingEvent("Finished", now, was))
	}
}

// terminating follows a workload that was asked to leave. If it was being bound, that is
// called off.
func (f facts) terminating(now time.Time, before, after *store.Workload) {
	id := after.Info.ID
	f.listener.Terminating(leavingEvent("Terminating", now, before))
	switch {
	case before.Phase == model.Pending:
		f.queue.Delete(id)
		f.wake.Freed(now, before)
	case before.Phase == model.Assumed:
		f.interrupt(now, id, ErrRemoved)
		f.wake.Freed(now, before) // not the room, but what was reserved besides
	case before.Node != after.Node: // requeued in the same transaction
		f.left(id)
		f.wake.Freed(now, before)
	default:
		f.wake.Updated(now, before, after)
	}
}

// enqueue lets a pending workload into the queue, unless a binding of it that
// was called off is still under way: then it goes in when that has ended.
func (f facts) enqueue(now time.Time, w *extpoints.WorkloadInfo) {
	if f.tasks.Of(w.ID) != nil {
		f.heldBack[w.ID] = true
		return
	}
	delete(f.heldBack, w.ID)
	f.wake.Submitted(now, w)
}

// onItsWay follows a workload that was given a node, or is updated while it is bound.
func (f facts) onItsWay(now time.Time, before, after *store.Workload) {
	if before.Phase == after.Phase {
		f.wake.Updated(now, before, after)
	}
	if kept := before.NominatedTo(); kept != "" && kept != after.Node {
		f.wake.PlacedElsewhere(now, before)
	}
	if f.permits.Of(after.Info.ID) != nil {
		f.queue.Update(now, before.Info, after.Info) // for when it is rejected
	}
}

// confirmed follows a workload that has been seen on a node.
func (f facts) confirmed(now time.Time, before, after *store.Workload) {
	id := after.Info.ID
	delete(f.lastWhy, id)
	delete(f.rooms, id)
	if before != nil {
		f.leftFor(now, before, after)
		f.boundBefore(now, before, after)
	}
	f.listener.Confirmed(PlacedEvent{Stage: "Confirmed", At: now, Workload: after.Info.Workload,
		Binding: model.Binding{Workload: id, Node: after.Node, Devices: slices.Clone(after.Info.Shares), Limit: after.Info.GrantedLimit}})
	if before == nil || before.Phase != model.Bound || before.Node != after.Node {
		f.wake.Arrived(now, after.Info)
	}
}

// boundBefore tells that a workload is bound which is seen where it was being bound to
// before Bind has returned: an orchestrator may confirm it within Bind.
func (f facts) boundBefore(now time.Time, before, after *store.Workload) {
	t := f.tasks.Of(after.Info.ID)
	if before.Phase == model.Assumed && before.Node == after.Node && t != nil && t.Permitted {
		f.listener.Bound(placedEvent("Bound", now, t.Member.Cycle))
	}
}

// leftFor ends what a workload was or had before it was seen on a node.
func (f facts) leftFor(now time.Time, before, after *store.Workload) {
	id := after.Info.ID
	if before.Phase == model.Pending {
		f.wake.Withdrawn(id)
	}
	if before.Phase == model.Assumed && before.Node != after.Node {
		f.interrupt(now, id, ErrRemoved) // it went elsewhere
	}
	if before.TakesRoomOn() != after.Node {
		f.left(id)
		f.wake.Moved(now, before, after.Node)
	} else if holdsOther(before, after) {
		f.wake.Updated(now, before, after) // it may hold less there than it was given
	}
}

// holdsOther reports whether a workload asks for, or holds, something else than
// before.
func holdsOther(before, after *store.Workload) bool {
	return before.Info.Workload != after.Info.Workload || !slices.Equal(before.Info.Shares, after.Info.Shares)
}

// requeued follows a workload that lost its node and waits again.
func (f facts) requeued(now time.Time, before, after *store.Workload) {
	f.listener.Requeued(leavingEvent("Requeued", now, before))
	f.left(before.Info.ID)
	f.interrupt(now, before.Info.ID, ErrRemoved)
	f.wake.Freed(now, before)
	f.enqueue(now, after.Info)
}

// removed follows a workload that has ended or was forgotten.
func (f facts) removed(now time.Time, before, after *store.Workload) {
	id := before.Info.ID
	delete(f.lastWhy, id)
	delete(f.rooms, id)
	f.left(id)
	if before.Phase != model.Finished {
		if before.TakesRoomOn() == "" {
			f.wake.Withdrawn(id)
		} else {
			f.queue.Delete(id) // an attempt that is under way
		}
		f.interrupt(now, id, ErrRemoved)
		f.wake.Freed(now, before)
		f.giveBack(before.Info.Workload)
	}
	switch {
	case after == nil:
		f.listener.Removed(leavingEvent("Removed", now, before))
	case before.Phase != model.Finished: // else it is updated
		f.listener.Finished(leavingEvent("Finished", now, before))
	}
}

// interrupt ends the binding of a workload that is no longer wanted where it
// was going. A task that waits on Permit ends at once; any other is told to, and
// ends when it is given back.
func (f facts) interrupt(now time.Time, id string, cause error) {
	t := f.tasks.Of(id)
	if t == nil {
		return
	}
	f.tasks.Abandon(now, t, cause)
	t.Member.Now = now
	if f.permits.Of(id) != nil {
		f.tasks.Forget(t)
		f.permits.Remove(id)
		f.unreserve(t.Member.Cycle)
		f.queue.Done(id)
	}
}

// left is told that a workload has left the node that it may have been asked to
// leave. It must not be asked any more: it may be on another by now.
func (f facts) left(id string) {
	if t := f.tasks.Eviction(id); t != nil {
		f.tasks.Stop(t, ErrRemoved)
		f.tasks.Forget(t)
	}
}
