package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/preempt"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// eviction is what an evicting task is about.
type eviction struct {
	workload *model.Workload
	node     string
	reason   string
	// by is for whom room is to be made, or nobody.
	by preempt.Beneficiary
	// asked: somebody else wants it, through Raw.Evict.
	asked bool
}

func (t *Task) runEviction(ctx context.Context) {
	defer func() {
		if cause := recover(); cause != nil {
			t.status = extpoints.AsStatus(fmt.Errorf("the orchestrator panicked: %v", cause))
		}
	}()
	if t.status = ended(ctx); t.status != nil {
		return
	}
	err := t.orchestrator.Evict(ctx, t.evict.workload, t.evict.reason)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w (%w)", cause, err)
	}
	t.status = extpoints.AsStatus(err)
}

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
	t := r.tasks[id]
	if row.Phase != model.Assumed || t != nil && t.isAbandoned() {
		t = nil // it is there, whatever becomes of the binding
	}
	if e := r.asked(id, t); e != nil {
		e.asked = e.asked || by == preempt.Nobody
		if e.by == preempt.Nobody {
			e.by = by // so that it counts as displaced
		}
		return
	}
	r.listener.Evicting(r.evictingEvent(now, row, reason, by))
	if t == nil {
		t = r.newTask()
		t.evict = &eviction{workload: row.Info.Workload, node: row.Node, reason: reason, by: by, asked: by == preempt.Nobody}
		r.evicting[id] = t
		r.leaving = append(r.leaving, t)
		return
	}
	if r.waiting.get(id) != nil {
		r.rejectWaiting(now, id, extpoints.AsStatus(withdrawn(by, "evicted while waiting on permit", "waiting on permit for pod", reason)))
		return
	}
	t.evicted = &eviction{reason: reason, by: by, asked: by == preempt.Nobody}
	t.stop(withdrawn(by, "evicted while being bound", "", reason))
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
func (r *Raw) evictBound(now time.Time, t *Task) {
	if t.evicted == nil {
		return
	}
	id := t.cycle.Info.ID
	if by, wanted := r.room.FirstFor(id); wanted {
		r.evict(now, id, t.evicted.reason, by)
	} else if t.evicted.asked {
		r.evict(now, id, t.evicted.reason, preempt.Nobody)
	}
}

// asked is the eviction of the workload that is under way, as a task of its own
// or by calling off its binding; nil where there is none.
func (r *Raw) asked(id string, binding *Task) *eviction {
	if t := r.evicting[id]; t != nil {
		return t.evict
	}
	if binding != nil {
		return binding.evicted
	}
	return nil
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
	if t := r.evicting[id]; t != nil {
		t.stop(ErrRemoved)
		delete(r.evicting, id)
	}
}

// finishEviction records that a workload is on its way out.
func (r *Raw) finishEviction(now time.Time, t *Task) {
	id := t.evict.workload.ID
	if r.evicting[id] != t {
		return // it left that node, by itself or because of this, and may be on another by now
	}
	delete(r.evicting, id)
	if t.status != nil {
		r.listener.Failed(FailedEvent{At: now, Workload: id, Err: fmt.Errorf("evict workload %q from node %q: %w", id, t.evict.node, t.status.AsError())})
		r.room.VictimStays(id)
		return
	}
	r.room.VictimChanged(id)
	row := r.rec.Workload(id)
	if row == nil || row.Node != t.evict.node || row.Phase == model.Pending {
		return // gone already
	}
	tx := r.rec.Begin()
	var err error
	switch {
	case t.evict.by != preempt.Nobody && !row.Info.Displaced:
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
