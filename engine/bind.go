package engine

import (
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// permitted goes on with a workload that Permit has let through. From here on
// failures are failures: the workload can no longer be unschedulable, so the
// events of its time in flight are no longer needed.
func (o outside) permitted(t *tasks.Task) {
	c := t.Member
	o.tasks.Ready(c.Now, t)
	o.ask(c)
	o.queue.Done(c.Info.ID)
	if row := o.rec.Workload(c.Info.ID); row != nil && row.Phase == model.Assumed { // not seen there meanwhile
		o.listener.Permitted(placedEvent("Permitted", c.Now, c.Cycle))
	}
	o.wake.SharedClaims(c.Now, c.Objects)
	c.Objects = nil
}

// ask records that the orchestrator may be asked from now on to make true what was
// decided about objects. Nobody needs to be told: to all others it is as it was.
func (o outside) ask(c *tasks.Member) {
	if len(c.Binding.Decided) == 0 {
		return
	}
	tx := o.rec.Begin()
	defer tx.Abort()
	if err := tx.Ask(c.Info.ID); err == nil {
		o.rec.Commit(tx)
	}
}

// answer records what may have been written of that; false where there was nothing to ask.
func (o outside) answer(tx *store.Txn, t *tasks.Task) bool {
	c := t.Member
	if !t.Permitted || len(c.Binding.Decided) == 0 {
		return false
	}
	refs := make([]model.ObjectRef, len(c.Binding.Decided))
	for i, o := range c.Binding.Decided {
		refs[i] = model.RefOf(o)
	}
	tx.Answer(c.Info.ID, refs, t.Written)
	return true
}

// answered is answer in a transaction of its own.
func (o outside) answered(t *tasks.Task) {
	tx := o.rec.Begin()
	defer tx.Abort()
	if o.answer(tx, t) {
		o.commitObjects(t.Member.Now, tx)
	}
}

func (o outside) finishBinding(now time.Time, t *tasks.Task) {
	c := t.Member
	id := c.Info.ID
	o.tasks.Forget(t)
	if t.Abandoned() {
		// Removed or moved while it was being bound: the orchestrator was told
		// to bind what is not wanted any more, and will hear of that by itself.
		o.abandoned(t)
		return
	}
	delete(o.lastWhy, id)
	delete(o.rooms, id)
	o.startedOn(c.Binding.Node)
	tx := o.rec.Begin()
	defer tx.Abort()
	answered := o.answer(tx, t)
	err := tx.Bind(id)
	switch {
	case err == nil:
		o.commit(now, tx)
		o.listener.Bound(placedEvent("Bound", now, c.Cycle))
	case answered: // confirmed before Bind returned
		o.commitObjects(now, tx)
	default:
		tx.Abort()
	}
	o.evictBound(now, t) // where it was bound all the same
	if err == nil {
		o.wake.Arrived(now, o.rec.Workload(id).Info)
	}
	o.activateAsked(c)
}

// abandoned gives back what was reserved for a binding that nobody waits for,
// and wakes those who may use it. The node's room was given back before. If the
// workload is pending again its next attempt has waited for this: two bindings
// of one workload must never be under way at once.
func (o outside) abandoned(t *tasks.Task) {
	c := t.Member
	o.answered(t)
	o.unreserve(c.Cycle)
	o.wake.Returned(c.Now, c.Info, c.Binding.Node, nil)
	switch row := o.rec.Workload(c.Info.ID); {
	case row == nil || row.Phase == model.Finished:
		o.giveBack(c.Info.Workload)
	case row.Phase == model.Pending:
		o.enqueue(c.Now, row.Info)
	}
}

// failBinding gives back what was reserved, wakes others who may use it, and
// queues the workload again.
func (o outside) failBinding(t *tasks.Task, st *extpoints.Status) {
	c := t.Member
	id := c.Info.ID
	o.tasks.Forget(t)
	if t.Abandoned() {
		o.abandoned(t)
		return
	}
	row := o.rec.Workload(id)
	if row != nil && row.Phase != model.Assumed && row.TakesRoomOn() == c.Binding.Node {
		o.answered(t)
		o.queue.Done(id) // it is there although Bind reported a failure, and needs what was reserved
		o.evictBound(c.Now, t)
		return
	}
	o.unreserve(c.Cycle)
	if row == nil || row.Phase != model.Assumed {
		o.answered(t)
		o.queue.Done(id)
		return
	}
	var given []store.Change // back
	tx := o.rec.Begin()
	defer tx.Abort()
	o.answer(tx, t)
	if err := tx.Forget(id); err != nil {
		tx.Abort()
	} else {
		given = o.commitOwn(c.Now, tx)
	}
	if t.Evicted != nil {
		o.room.VictimCalledOff(id)
	}
	if t.Permitted && notThere(st) {
		o.notStartedOn(c.Now, id, c.Binding.Node)
	}
	c.Refuse(st)
	if t.Permitted {
		c.Diagnosis = nil // whatever a PreBind or Bind plugin calls it, it is a failure
	}
	if st.IsRejected() {
		// The others are woken afterwards, and not the workload itself: the
		// event must not be among those that it missed while in flight.
		o.fail(c, st)
		o.wake.Returned(c.Now, row.Info, c.Binding.Node, func(w *model.Workload) bool { return w.ID != id })
		o.tellGivenBack(c.Now, given, id)
		return
	}
	o.wake.Returned(c.Now, row.Info, c.Binding.Node, nil)
	o.fail(c, st)
	o.tellGivenBack(c.Now, given, id)
}
