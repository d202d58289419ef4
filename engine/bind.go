package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Task is work for the world outside: binding one workload, or evicting one, or
// taking back what a claim was given.
// Whoever takes it from [Raw.NextTask] calls Run once, on any goroutine, and
// then gives it back to [Raw.Finish].
type Task struct {
	orchestrator extpoints.Orchestrator
	cycle        *cycle // of a binding, else nil
	evict        *eviction
	release      *release

	mu        sync.Mutex
	stage     taskStage
	cancel    context.CancelCauseFunc // set by Run
	cause     error                   // why Run must end early
	prebound  bool                    // Bind may have begun: it is too late for stop
	abandoned bool                    // nobody waits for the outcome any more

	number    uint64    // in the order in which tasks are made
	permitted bool      // it is past Permit: failures are failures
	evicted   *eviction // of its workload, where that was asked for meanwhile

	status *extpoints.Status // the outcome
	failed []error           // what went wrong without changing the outcome
}

// taskStage says what was done with a task.
type taskStage uint8

const (
	taskNew taskStage = iota
	taskRunning
	taskSettled // it has an outcome
	taskFinished
)

// errNotRun is the outcome of a task that was given back without one, or whose
// Run did not return.
var errNotRun = errors.New("the task was given back before it had run")

// enter moves the task on if it is at the stage from.
func (t *Task) enter(from, to taskStage) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stage != from {
		return false
	}
	t.stage = to
	return true
}

// Workload is the workload to bind or evict, or for whose sake a claim is to lose
// its devices.
func (t *Task) Workload() *model.Workload {
	switch {
	case t.evict != nil:
		return t.evict.workload
	case t.release != nil:
		return t.release.workload
	}
	return t.cycle.Info.Workload
}

// Claim is the claim that is to lose its devices, nil for other tasks.
func (t *Task) Claim() *model.DeviceClaim {
	if t.release == nil {
		return nil
	}
	return t.release.claim
}

// Binding is what is to be bound; false for a task that does something else.
func (t *Task) Binding() (model.Binding, bool) {
	if t.cycle == nil {
		return model.Binding{}, false
	}
	return t.cycle.Binding, true
}

// Run does the work: PreBind, Bind and PostBind of the workload's profile, an
// extender's Bind in place of the profile's, or the eviction. It may block until
// ctx ends, and touches nothing of the engine's, so it may run beside every other
// method. A task runs once; another Run does nothing.
func (t *Task) Run(ctx context.Context) {
	if !t.enter(taskNew, taskRunning) {
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t.mu.Lock()
	if t.cause != nil {
		cancel(t.cause)
	}
	t.cancel = cancel
	t.mu.Unlock()
	switch {
	case t.evict != nil:
		t.runEviction(ctx)
	case t.release != nil:
		t.runRelease(ctx)
	default:
		t.runBinding(ctx)
	}
	t.enter(taskRunning, taskSettled)
}

func (t *Task) runBinding(ctx context.Context) {
	c := t.cycle
	if t.status = ended(ctx); t.status != nil {
		return
	}
	if t.status = c.Framework.PreBind(ctx, c.State, c.Info, &c.Binding); t.status != nil {
		return
	}
	// The last moment at which it can be called off for sure.
	if t.status = t.prebind(ctx); t.status != nil {
		return
	}
	if t.status, t.failed = c.Framework.Bind(ctx, c.State, c.Info, &c.Binding); t.status != nil {
		return
	}
	t.failed = append(t.failed, c.Framework.PostBind(ctx, c.State, c.Info, &c.Binding)...)
}

// prebind marks the task as one whose Bind has begun, unless it has been
// stopped. A Bind that is cancelled halfway may have arrived all the same, so
// from here on stop comes too late. (kube-scheduler: PodInPreBind.MarkPrebound.)
func (t *Task) prebind(ctx context.Context) *extpoints.Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	if st := ended(ctx); st != nil {
		return st
	}
	t.prebound = true
	return nil
}

// ended is why ctx has ended, nil where it has not.
func ended(ctx context.Context) *extpoints.Status {
	return extpoints.AsStatus(context.Cause(ctx))
}

// Settle gives the task an outcome without running it, for simulations; nil is
// success.
func (t *Task) Settle(err error) {
	if t.enter(taskNew, taskSettled) {
		t.status = extpoints.AsStatus(err)
	}
}

// stop ends a Run that is to come, or under way but not at Bind yet; the
// outcome still counts.
func (t *Task) stop(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.prebound {
		return
	}
	t.cause = cause
	if t.cancel != nil {
		t.cancel(cause)
	}
}

// abandon ends a Run, at whatever stage, whose workload is no longer wanted
// there.
func (t *Task) abandon(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.abandoned, t.cause = true, cause
	if t.cancel != nil {
		t.cancel(cause)
	}
}

func (t *Task) isAbandoned() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.abandoned
}

// newBinding makes the task of a workload whose node is reserved.
func (r *Raw) newBinding(c *cycle) *Task {
	t := r.newTask()
	t.cycle = c
	r.tasks[c.Info.ID] = t
	return t
}

func (r *Raw) newTask() *Task {
	r.made++
	return &Task{orchestrator: r.cfg.Orchestrator, number: r.made}
}

// permitted goes on with a workload that Permit has let through. From here on
// failures are failures: the workload can no longer be unschedulable, so the
// events of its time in flight are no longer needed.
func (r *Raw) permitted(t *Task) {
	c := t.cycle
	t.permitted = true
	r.listener.Permitted(PlacedEvent{At: c.Now, Workload: c.Info.Workload, Binding: c.Binding})
	r.queue.Done(c.Info.ID)
	r.shareClaims(c.Now, c.objects)
	c.objects = nil
	r.ready = append(r.ready, t)
}

// Finish takes a task back and records its outcome. A task that has not run
// counts as failed; one that was given back before is ignored.
func (r *Raw) Finish(now time.Time, t *Task) {
	if !t.enter(taskSettled, taskFinished) {
		if !t.enter(taskNew, taskFinished) && !t.enter(taskRunning, taskFinished) {
			return
		}
		t.status = extpoints.AsStatus(errNotRun)
	}
	r.recorder.finish(now, t)
	defer r.settle(now)
	r.finish(now, t)
}

func (r *Raw) finish(now time.Time, t *Task) {
	if t.evict != nil {
		r.finishEviction(now, t)
		return
	}
	if t.release != nil {
		r.finishRelease(now, t)
		return
	}
	t.cycle.Now = now
	for _, err := range t.failed {
		r.listener.Failed(FailedEvent{At: now, Workload: t.cycle.Info.ID, Err: err})
	}
	if t.status != nil {
		r.failBinding(t, t.status)
		return
	}
	r.finishBinding(now, t)
}

func (r *Raw) finishBinding(now time.Time, t *Task) {
	c := t.cycle
	id := c.Info.ID
	if r.tasks[id] == t {
		delete(r.tasks, id)
	}
	if t.isAbandoned() {
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
		r.arrived(now, r.rec.Workload(id).Info)
	}
	r.activateAsked(c)
}

// abandoned gives back what was reserved for a binding that nobody waits for,
// and wakes those who may use it. The node's room was given back before. If the
// workload is pending again its next attempt has waited for this: two bindings
// of one workload must never be under way at once.
func (r *Raw) abandoned(c *cycle) {
	r.unreserve(c.Cycle)
	r.queue.Move(c.Now, freedBy(c.Info), nil)
	if row := r.rec.Workload(c.Info.ID); row != nil && row.Phase == model.Pending {
		r.enqueue(c.Now, row.Info)
	}
}

// failBinding gives back what was reserved, wakes others who may use it, and
// queues the workload again.
func (r *Raw) failBinding(t *Task, st *extpoints.Status) {
	c := t.cycle
	id := c.Info.ID
	if r.tasks[id] == t {
		delete(r.tasks, id)
	}
	if t.isAbandoned() {
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
	if t.evicted != nil {
		r.room.VictimCalledOff(id)
	}
	freed := freedBy(row.Info)
	c.Refuse(st)
	if t.permitted {
		c.Diagnosis = nil // whatever a PreBind or Bind plugin calls it, it is a failure
	}
	if st.IsRejected() {
		// The others are woken afterwards, and not the workload itself: the
		// event must not be among those that it missed while in flight.
		r.fail(c, st)
		r.queue.Move(c.Now, freed, func(w *model.Workload) bool { return w.ID != id })
		r.tellGivenBack(c.Now, given, id)
		return
	}
	r.queue.Move(c.Now, freed, nil)
	r.fail(c, st)
	r.tellGivenBack(c.Now, given, id)
}

// tellGivenBack tells of objects about which nothing is decided any more for the
// sake of the workload of the ID, which need not be told.
func (r *Raw) tellGivenBack(now time.Time, objects []store.Change, id string) {
	for i := range objects {
		r.reactObject(now, objects[i].OldObject, objects[i].NewObject, id)
	}
}

// interrupt ends the binding of a workload that is no longer wanted where it
// was going. A task that waits on Permit ends at once; any other is told to, and
// ends when it is given back.
func (r *Raw) interrupt(now time.Time, id string, cause error) {
	t := r.tasks[id]
	if t == nil {
		return
	}
	t.abandon(cause)
	t.cycle.Now = now
	if r.waiting.get(id) != nil {
		delete(r.tasks, id)
		r.waiting.remove(id)
		r.unreserve(t.cycle.Cycle)
		r.queue.Done(id)
	}
}

// enqueue lets a pending workload into the queue, unless a binding of it that
// was called off is still under way: then it goes in when that has ended.
func (r *Raw) enqueue(now time.Time, w *extpoints.WorkloadInfo) {
	if r.tasks[w.ID] != nil {
		return
	}
	r.offering(queue.WorkloadAdded, func() {
		r.queue.Add(now, w)
		if w.Group != "" {
			r.awaited(now, w)
		}
	})
}

// awaited tells those that wait of a new member of a group: it may be the one
// that they have waited for. (kube-scheduler eventhandlers.go
// addPodToSchedulingQueue, 1.37.1.)
func (r *Raw) awaited(now time.Time, w *extpoints.WorkloadInfo) {
	r.queue.Move(now, &extpoints.Change{Event: queue.WorkloadAdded, NewWorkload: w}, nil)
}
