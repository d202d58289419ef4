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

// Evict asks the orchestrator, through a task, to make a workload leave its
// node. It is an error if the workload is on none. A workload whose eviction is
// under way is not asked twice.
func (r *Raw) Evict(now time.Time, id, reason string) error {
	row := r.rec.Workload(id)
	if row == nil {
		return fmt.Errorf("evict workload %q: %w", id, ErrNotFound)
	}
	if row.TakesRoomOn() == "" {
		return fmt.Errorf("evict workload %q: it is on no node", id)
	}
	r.recorder.evict(now, id, reason)
	defer r.settle(now)
	r.evict(now, id, reason, preempt.Nobody)
	return nil
}

// evict makes the task. A workload that is not bound yet needs no
// orchestrator: its binding is called off, and it waits again. (kube-scheduler
// framework/preemption/executor.go, 1.37.1: WaitingPod.Preempt and
// PodInPreBind.CancelPod.)
func (r *Raw) evict(now time.Time, id, reason string, by preempt.Beneficiary) {
	row := r.rec.Workload(id)
	if row == nil || row.TakesRoomOn() == "" || row.Phase == model.Terminating {
		return
	}
	t := r.tasks.Binding(id)
	if row.Phase != model.Assumed || t != nil && t.Abandoned() {
		t = nil // it is there, whatever becomes of the binding
	}
	if e := r.tasks.Leaving(id, t); e != nil {
		e.Asked = e.Asked || by == preempt.Nobody
		if e.By == preempt.Nobody {
			e.By = by // so that it counts as displaced
		}
		return
	}
	r.listener.Evicting(r.evictingEvent(now, row, reason, by))
	if t == nil {
		r.tasks.Evict(&tasks.Eviction{Workload: row.Info.Workload, Node: row.Node, Reason: reason, By: by, Asked: by == preempt.Nobody})
		return
	}
	if r.permits.Of(id) != nil {
		r.rejectWaiting(now, id, extpoints.AsStatus(withdrawn(by, "evicted while waiting on permit", "waiting on permit for pod", reason)))
		return
	}
	t.Evicted = &tasks.Eviction{Reason: reason, By: by, Asked: by == preempt.Nobody}
	t.Stop(withdrawn(by, "evicted while being bound", "", reason))
}

func (r *Raw) evictingEvent(now time.Time, victim *store.Workload, reason string, by preempt.Beneficiary) EvictingEvent {
	e := EvictingEvent{At: now, Workload: victim.Info.Workload, Node: victim.Node, Reason: reason, By: by.Workload, ByGroup: by.Group}
	if row := r.rec.Workload(r.room.Waiter(by)); row != nil {
		e.For = row.Info.Workload
	}
	return e
}

// evictBound goes on with an eviction that came too late to call the binding
// off, if somebody still wants it.
func (r *Raw) evictBound(now time.Time, t *tasks.Task) {
	if t.Evicted == nil {
		return
	}
	id := t.Member.Info.ID
	if by, wanted := r.room.FirstFor(id); wanted {
		r.evict(now, id, t.Evicted.Reason, by)
	} else if t.Evicted.Asked {
		r.evict(now, id, t.Evicted.Reason, preempt.Nobody)
	}
}

// withdrawn is why a binding is called off: in kube-scheduler's words where room
// is to be made for another workload, else in ours.
func withdrawn(by preempt.Beneficiary, ours, theirs, reason string) error {
	switch {
	case by == preempt.Nobody:
		return fmt.Errorf("%s: %s", ours, reason)
	case theirs == "":
		return errors.New(reason)
	}
	return fmt.Errorf("%s: %s", theirs, reason)
}

// left is told that a workload has left the node that it may have been asked to
// leave. It must not be asked any more: it may be on another by now.
func (r *Raw) left(id string) {
	if t := r.tasks.Eviction(id); t != nil {
		t.Stop(ErrRemoved)
		r.tasks.Forget(t)
	}
}

// finishEviction records that a workload is on its way out.
func (r *Raw) finishEviction(now time.Time, t *tasks.Task) {
	id := t.Evict.Workload.ID
	if !r.tasks.Forget(t) {
		return // it left that node, by itself or because of this, and may be on another by now
	}
	if t.Status != nil {
		r.listener.Failed(FailedEvent{At: now, Workload: id, Err: fmt.Errorf("evict workload %q from node %q: %w", id, t.Evict.Node, t.Status.AsError())})
		r.room.VictimStays(id)
		return
	}
	r.room.VictimChanged(id)
	row := r.rec.Workload(id)
	if row == nil || row.Node != t.Evict.Node || row.Phase == model.Pending {
		return // gone already
	}
	tx := r.rec.Begin()
	var err error
	switch {
	case t.Evict.By != preempt.Nobody && !row.Info.Displaced:
		err = tx.Displace(id)
	case row.Phase == model.Terminating: // reported already
	default:
		err = tx.Terminate(id)
	}
	if err != nil {
		tx.Abort()
		return
	}
	r.commit(now, tx)
}
