package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/preempt"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// evict makes the task, unless the workload is terminating already. A workload that is not bound yet needs no
// orchestrator: its binding is called off, and it waits again. (kube-scheduler
// framework/preemption/executor.go, 1.37.1: WaitingPod.Preempt and
// PodInPreBind.CancelPod.)
func (o outside) evict(now time.Time, id, reason string, by preempt.Beneficiary) {
	row := o.rec.Workload(id)
	if row == nil || row.TakesRoomOn() == "" || row.Phase == model.Terminating {
		return
	}
	o.askToLeave(now, row, reason, by)
}

// askToLeave is evict, also of a workload that is terminating: the orchestrator may have
// accepted an eviction and forgotten it.
func (o outside) askToLeave(now time.Time, row *store.Workload, reason string, by preempt.Beneficiary) {
	id := row.Info.ID
	t := o.tasks.Of(id)
	if row.Phase != model.Assumed || t != nil && t.Abandoned() {
		t = nil // it is there, whatever becomes of the binding
	}
	if e := o.tasks.Leaving(id, t); e != nil {
		e.Asked = e.Asked || by == preempt.Nobody
		if e.By == preempt.Nobody {
			e.By = by // so that it counts as displaced
		}
		return
	}
	o.listener.Evicting(o.evictingEvent(now, row, reason, by))
	if t == nil {
		o.displacing(now, id)
		o.tasks.Evict(&tasks.Eviction{Workload: row.Info.Workload, Node: row.Node, Since: now, Reason: reason, By: by, Asked: by == preempt.Nobody})
		return
	}
	if o.permits.Of(id) != nil {
		o.rejectWaiting(now, id, extpoints.AsStatus(withdrawn(by, "evicted while waiting on permit", "waiting on permit for workload", reason)))
		return
	}
	t.Evicted = &tasks.Eviction{Since: now, Reason: reason, By: by, Asked: by == preempt.Nobody}
	o.tasks.Stop(t, withdrawn(by, "evicted while being bound", "", reason))
}

func (c *core) evictingEvent(now time.Time, victim *store.Workload, reason string, by preempt.Beneficiary) EvictingEvent {
	e := EvictingEvent{At: now, Workload: victim.Info.Workload, Node: victim.Node, Reason: reason, By: by.Workload, ByGroup: by.Group}
	if row := c.rec.Workload(c.room.Waiter(by)); row != nil {
		e.For = row.Info.Workload
	}
	return e
}

// evictBound goes on with an eviction that came too late to call the binding
// off, if somebody still wants it.
func (o outside) evictBound(now time.Time, t *tasks.Task) {
	if t.Evicted == nil {
		return
	}
	id := t.Member.Info.ID
	if by, wanted := o.room.FirstFor(id); wanted {
		o.evict(now, id, t.Evicted.Reason, by)
	} else if t.Evicted.Asked {
		o.evict(now, id, t.Evicted.Reason, preempt.Nobody)
	}
}

// withdrawn is why a binding is called off: as kube-scheduler says it where room is to
// be made for another workload, else in words of our own.
func withdrawn(by preempt.Beneficiary, ours, theirs, reason string) error {
	switch {
	case by == preempt.Nobody:
		return fmt.Errorf("%s: %s", ours, reason)
	case theirs == "":
		return errors.New(reason)
	}
	return fmt.Errorf("%s: %s", theirs, reason)
}

// finishEviction records that a workload is terminating.
func (o outside) finishEviction(now time.Time, t *tasks.Task) {
	id := t.Evict.Workload.ID
	if !o.tasks.Forget(t) {
		return // it left that node, by itself or because of this, and may be on another by now
	}
	if t.Status != nil {
		o.listener.Failed(FailedEvent{At: now, Workload: id, Err: fmt.Errorf("%v: %w", t, t.Status.AsError())})
		o.room.VictimStays(id)
		return
	}
	o.room.VictimChanged(id)
	row := o.rec.Workload(id)
	if row == nil || row.Node != t.Evict.Node || row.Phase == model.Pending {
		return // gone already
	}
	tx := o.rec.Begin()
	defer tx.Abort()
	var err error
	switch {
	case t.Evict.By != preempt.Nobody && !row.Info.Displaced:
		err = tx.Displace(id)
	case row.Phase == model.Terminating: // reported already
	default:
		err = tx.Terminate(id)
	}
	if err == nil {
		o.commit(now, tx)
	}
}
