package engine

import (
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// commit makes the transaction part of the record and lets the rest follow: first the
// whole view, then the queue, so that whoever is woken sees everything.
func (r *Raw) commit(now time.Time, tx *store.Txn) {
	facts := r.rec.Commit(tx)
	for i := range facts {
		r.follow(now, &facts[i])
	}
}

// commitOwn is commit for a decision of the engine's own. What it changes of
// objects is returned and not told: to the workload in flight it would be an event
// like any other, so that a decision that is taken back would wake the very
// workload it was about.
func (r *Raw) commitOwn(now time.Time, tx *store.Txn) (objects []store.Change) {
	facts := r.rec.Commit(tx)
	for i := range facts {
		if facts[i].Kind == store.ObjectKind {
			objects = append(objects, facts[i])
		} else {
			r.follow(now, &facts[i])
		}
	}
	return objects
}

// tellGivenBack tells of objects about which nothing is decided any more for the
// sake of the workload of the ID, which need not be told.
func (r *Raw) tellGivenBack(now time.Time, objects []store.Change, id string) {
	for i := range objects {
		r.wake.Object(now, &objects[i], id)
	}
}

// follow lets preemptions, tasks, queue and listeners follow one fact.
func (r *Raw) follow(now time.Time, fact *store.Change) {
	switch fact.Kind {
	case store.WorkloadKind:
		r.room.Follow(fact.OldWorkload, fact.NewWorkload)
		r.followWorkload(now, fact.OldWorkload, fact.NewWorkload)
		return
	case store.GroupKind:
		r.queue.GroupChanged(now, fact.ID())
		r.room.FollowGroup(fact.ID())
	}
	r.wake.Fact(now, fact)
}

// followWorkload follows a workload's move from one phase to another. What the
// scheduling cycle itself does (assume, forget, bind, nominate) is followed
// where it happens.
func (r *Raw) followWorkload(now time.Time, before, after *store.Workload) {
	if before != nil && after != nil && before.CreateIndex != after.CreateIndex {
		// Removed and handed in again in one transaction: another workload.
		r.removed(now, before, nil)
		before = nil
	}
	switch {
	case before == nil:
		r.submitted(now, after)
	case after == nil || after.Phase == model.Finished:
		r.removed(now, before, after)
	case after.Phase == model.Pending && before.Phase == model.Pending:
		if before.Info.Workload != after.Info.Workload && r.tasks.Binding(after.Info.ID) == nil {
			r.wake.Changed(now, before, after)
		}
		if before.NominatedTo() != after.NominatedTo() {
			r.wake.Freed(now, before)
		}
	case after.Phase == model.Pending:
		// Where the engine itself takes a decision back there is no task.
		if before.Phase != model.Assumed || r.tasks.Binding(before.Info.ID) != nil {
			r.requeued(now, before, after)
		}
	case after.Phase == model.Terminating && before.Phase == model.Pending:
		r.queue.Delete(before.Info.ID)
		r.wake.Freed(now, before)
	case after.Phase == model.Terminating && before.Phase == model.Assumed:
		r.interrupt(now, before.Info.ID, ErrRemoved)
		r.wake.Freed(now, before) // not the room, but what was reserved besides
	case after.Phase == model.Confirmed && before.Phase != model.Confirmed:
		r.confirmed(now, before, after)
	case after.Phase == model.Assumed || after.Phase == model.Bound:
		r.onItsWay(now, before, after)
	default:
		r.wake.Updated(now, before, after)
	}
}

// submitted follows a workload that became known.
func (r *Raw) submitted(now time.Time, after *store.Workload) {
	r.listener.Submitted(SubmittedEvent{At: now, Workload: after.Info.Workload})
	switch {
	case after.Phase == model.Pending:
		r.enqueue(now, after.Info)
	case after.TakesRoomOn() == "": // ended before it began
	default:
		r.confirmed(now, nil, after)
	}
}

// enqueue lets a pending workload into the queue, unless a binding of it that
// was called off is still under way: then it goes in when that has ended.
func (r *Raw) enqueue(now time.Time, w *extpoints.WorkloadInfo) {
	if r.tasks.Binding(w.ID) == nil {
		r.wake.Submitted(now, w)
	}
}

// onItsWay follows a workload that was given a node, or is updated while it is bound.
func (r *Raw) onItsWay(now time.Time, before, after *store.Workload) {
	if before.Phase == after.Phase {
		r.wake.Updated(now, before, after)
	}
	if kept := before.NominatedTo(); kept != "" && kept != after.Node {
		r.wake.PlacedElsewhere(now, before)
	}
	if r.permits.Of(after.Info.ID) != nil {
		r.queue.Update(now, before.Info, after.Info) // for when it is turned down
	}
}

// confirmed follows a workload that has been seen on a node.
func (r *Raw) confirmed(now time.Time, before, after *store.Workload) {
	id := after.Info.ID
	delete(r.lastWhy, id)
	if before != nil {
		r.leftFor(now, before, after)
	}
	r.listener.Confirmed(PlacedEvent{At: now, Workload: after.Info.Workload,
		Binding: model.Binding{Workload: id, Node: after.Node, Devices: after.Info.Shares}})
	if before == nil || before.Phase != model.Bound || before.Node != after.Node {
		r.wake.Arrived(now, after.Info)
	}
}

// leftFor ends what a workload was or had before it was seen on a node.
func (r *Raw) leftFor(now time.Time, before, after *store.Workload) {
	id := after.Info.ID
	if before.Phase == model.Pending {
		r.wake.Withdrawn(id)
	}
	if before.Phase == model.Assumed && before.Node != after.Node {
		r.interrupt(now, id, ErrRemoved) // it went elsewhere
	}
	if before.TakesRoomOn() != after.Node {
		r.left(id)
		r.wake.Moved(now, before, after.Node)
	} else if holdsOther(before, after) {
		r.wake.Updated(now, before, after) // it may hold less there than it was given
	}
}

// holdsOther reports whether a workload asks for, or holds, something else than
// before.
func holdsOther(before, after *store.Workload) bool {
	return before.Info.Workload != after.Info.Workload || !slices.Equal(before.Info.Shares, after.Info.Shares)
}

// requeued follows a workload that lost its node and waits again.
func (r *Raw) requeued(now time.Time, before, after *store.Workload) {
	r.left(before.Info.ID)
	r.interrupt(now, before.Info.ID, ErrRemoved)
	r.wake.Freed(now, before)
	r.enqueue(now, after.Info)
}

// removed follows a workload that has ended or was forgotten.
func (r *Raw) removed(now time.Time, before, after *store.Workload) {
	id := before.Info.ID
	delete(r.lastWhy, id)
	r.left(id)
	if before.Phase != model.Finished {
		if before.TakesRoomOn() == "" {
			r.wake.Withdrawn(id)
		} else {
			r.queue.Delete(id) // an attempt that is under way
		}
		r.interrupt(now, id, ErrRemoved)
		r.wake.Freed(now, before)
	}
	if after == nil {
		r.listener.Removed(RemovedEvent{At: now, Workload: before.Info.Workload, Phase: before.Phase, Node: before.Node})
	}
}
