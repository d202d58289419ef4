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
func (r *Raw) permitted(t *tasks.Task) {
	c := t.Member
	t.Permitted = true
	r.listener.Permitted(PlacedEvent{At: c.Now, Workload: c.Info.Workload, Binding: c.Binding})
	r.queue.Done(c.Info.ID)
	r.wake.SharedClaims(c.Now, c.Objects)
	c.Objects = nil
	r.tasks.Ready(t)
}

// Finish takes a task back and records its outcome. A task that has not run
// counts as failed; one that was given back before is ignored.
func (r *Raw) Finish(now time.Time, t *Task) {
	if !t.task.Finish() {
		return
	}
	r.recorder.finish(now, t.task)
	defer r.settle(now)
	r.finish(now, t.task)
}

func (r *Raw) finish(now time.Time, t *tasks.Task) {
	if t.Evict != nil {
		r.finishEviction(now, t)
		return
	}
	if t.Release != nil {
		r.finishRelease(now, t)
		return
	}
	t.Member.Now = now
	for _, err := range t.Failed {
		r.listener.Failed(FailedEvent{At: now, Workload: t.Member.Info.ID, Err: err})
	}
	if t.Status != nil {
		r.failBinding(t, t.Status)
		return
	}
	r.finishBinding(now, t)
}

func (r *Raw) finishBinding(now time.Time, t *tasks.Task) {
	c := t.Member
	id := c.Info.ID
	r.tasks.Forget(t)
	if t.Abandoned() {
		// Removed or moved while it was being bound: the orchestrator was told
		// to bind what is not wanted any more, and will hear of that by itself.
		r.abandoned(c)
		return
	}
	delete(r.lastWhy, id)
	tx := r.rec.Begin()
	err := tx.Bind(id)
	if err != nil {
		tx.Abort() // confirmed before Bind returned
	} else {
		r.commit(now, tx)
	}
	r.listener.Bound(PlacedEvent{At: now, Workload: c.Info.Workload, Binding: c.Binding})
	r.evictBound(now, t) // where it was bound all the same
	if err == nil {
		r.wake.Arrived(now, r.rec.Workload(id).Info)
	}
	r.activateAsked(c)
}

// abandoned gives back what was reserved for a binding that nobody waits for,
// and wakes those who may use it. The node's room was given back before. If the
// workload is pending again its next attempt has waited for this: two bindings
// of one workload must never be under way at once.
func (r *Raw) abandoned(c *tasks.Member) {
	r.unreserve(c.Cycle)
	r.wake.Returned(c.Now, c.Info, nil)
	if row := r.rec.Workload(c.Info.ID); row != nil && row.Phase == model.Pending {
		r.enqueue(c.Now, row.Info)
	}
}

// failBinding gives back what was reserved, wakes others who may use it, and
// queues the workload again.
func (r *Raw) failBinding(t *tasks.Task, st *extpoints.Status) {
	c := t.Member
	id := c.Info.ID
	r.tasks.Forget(t)
	if t.Abandoned() {
		r.abandoned(c)
		return
	}
	row := r.rec.Workload(id)
	if row != nil && row.Phase != model.Assumed && row.TakesRoomOn() == c.Binding.Node {
		r.queue.Done(id) // it is there although Bind reported a failure, and needs what was reserved
		r.evictBound(c.Now, t)
		return
	}
	r.unreserve(c.Cycle)
	if row == nil || row.Phase != model.Assumed {
		r.queue.Done(id)
		return
	}
	var given []store.Change // back
	tx := r.rec.Begin()
	if err := tx.Forget(id); err != nil {
		tx.Abort()
	} else {
		given = r.commitOwn(c.Now, tx)
	}
	if t.Evicted != nil {
		r.room.VictimCalledOff(id)
	}
	c.Refuse(st)
	if t.Permitted {
		c.Diagnosis = nil // whatever a PreBind or Bind plugin calls it, it is a failure
	}
	if st.IsRejected() {
		// The others are woken afterwards, and not the workload itself: the
		// event must not be among those that it missed while in flight.
		r.fail(c, st)
		r.wake.Returned(c.Now, row.Info, func(w *model.Workload) bool { return w.ID != id })
		r.tellGivenBack(c.Now, given, id)
		return
	}
	r.wake.Returned(c.Now, row.Info, nil)
	r.fail(c, st)
	r.tellGivenBack(c.Now, given, id)
}

// interrupt ends the binding of a workload that is no longer wanted where it
// was going. A task that waits on Permit ends at once; any other is told to, and
// ends when it is given back.
func (r *Raw) interrupt(now time.Time, id string, cause error) {
	t := r.tasks.Binding(id)
	if t == nil {
		return
	}
	t.Abandon(cause)
	t.Member.Now = now
	if r.permits.Of(id) != nil {
		r.tasks.Forget(t)
		r.permits.Remove(id)
		r.unreserve(t.Member.Cycle)
		r.queue.Done(id)
	}
}
