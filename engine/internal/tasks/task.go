// Package tasks has what is done outside the engine: bindings, evictions, and claims
// that are to give back their devices. Each is a [Task], which runs once, on any
// goroutine; a [Book] knows which are under way. Here are also the workloads that wait
// on Permit before they are bound, and the commands by which plugins let them go on.
package tasks

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/preempt"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Member is one member of an attempt of the engine's own.
type Member struct {
	*decide.Cycle
	Item *queue.Item
	// Created is the CreateIndex of the workload's row, once it is known.
	Created uint64
	// Objects are what recording the decision has changed of objects, as long as
	// those that wait were not told; of a workload by itself.
	Objects []store.Change
}

// Eviction is what an evicting task is about.
type Eviction struct {
	Workload *model.Workload
	Node     string
	Reason   string
	// By is for whom room is to be made, or nobody.
	By preempt.Beneficiary
	// Asked: somebody else wants it, through Raw.Evict.
	Asked bool
}

// Release is what a task is about that takes devices, or a reservation, back from a
// claim.
type Release struct {
	Workload *model.Workload // for whose sake
	Claim    *model.DeviceClaim
	Left     *model.DeviceClaim // what is left of it; nil: it goes
}

// Task is work for the world outside: a binding, an eviction or a release. Exactly one
// of Member, Evict and Release is set.
type Task struct {
	Number  uint64 // in the order in which tasks are made
	Member  *Member
	Evict   *Eviction
	Release *Release

	// Permitted: a binding is past Permit, so failures are failures.
	Permitted bool
	// Evicted is the eviction of a binding's workload, where that was asked for
	// meanwhile.
	Evicted *Eviction

	// Status is the outcome, and Failed what went wrong without changing it. They
	// are written while the task runs, and belong to the engine before and after.
	Status *extpoints.Status
	Failed []error

	orchestrator extpoints.Orchestrator

	mu        sync.Mutex
	stage     stage
	cancel    context.CancelCauseFunc // set by Run
	cause     error                   // why Run must end early
	prebound  bool                    // Bind may have begun: it is too late for Stop
	abandoned bool                    // nobody waits for the outcome any more
}

// stage says what was done with a task.
type stage uint8

const (
	made stage = iota
	running
	settled // it has an outcome
	finished
)

// errNotRun is the outcome of a task that was given back without one, or whose
// Run did not return.
var errNotRun = errors.New("the task was given back before it had run")

// enter moves the task on if it is at the stage from.
func (t *Task) enter(from, to stage) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stage != from {
		return false
	}
	t.stage = to
	return true
}

// Workload is the workload to bind or evict, or for whose sake a claim is to lose its
// devices.
func (t *Task) Workload() *model.Workload {
	switch {
	case t.Evict != nil:
		return t.Evict.Workload
	case t.Release != nil:
		return t.Release.Workload
	}
	return t.Member.Info.Workload
}

// Run does the work. A task runs once; another Run does nothing.
func (t *Task) Run(ctx context.Context) {
	if !t.enter(made, running) {
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
	case t.Evict != nil:
		t.runGuarded(ctx, t.evict)
	case t.Release != nil:
		t.runGuarded(ctx, t.release)
	default:
		t.bind(ctx)
	}
	t.enter(running, settled)
}

// bind runs PreBind, Bind and PostBind.
func (t *Task) bind(ctx context.Context) {
	m := t.Member
	if t.Status = ended(ctx); t.Status != nil {
		return
	}
	if t.Status = m.Framework.PreBind(ctx, m.State, m.Info, &m.Binding); t.Status != nil {
		return
	}
	// The last moment at which it can be called off for sure.
	if t.Status = t.prebind(ctx); t.Status != nil {
		return
	}
	if t.Status, t.Failed = m.Framework.Bind(ctx, m.State, m.Info, &m.Binding); t.Status != nil {
		return
	}
	t.Failed = append(t.Failed, m.Framework.PostBind(ctx, m.State, m.Info, &m.Binding)...)
}

// prebind marks the task as one whose Bind has begun, unless it has been
// stopped. A Bind that is cancelled halfway may have arrived all the same, so
// from here on Stop comes too late. (kube-scheduler: PodInPreBind.MarkPrebound.)
func (t *Task) prebind(ctx context.Context) *extpoints.Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	if st := ended(ctx); st != nil {
		return st
	}
	t.prebound = true
	return nil
}

// runGuarded asks the orchestrator; a panic of its is a failure.
func (t *Task) runGuarded(ctx context.Context, ask func(context.Context) error) {
	defer func() {
		if cause := recover(); cause != nil {
			t.Status = extpoints.AsStatus(fmt.Errorf("the orchestrator panicked: %v", cause))
		}
	}()
	if t.Status = ended(ctx); t.Status != nil {
		return
	}
	t.Status = extpoints.AsStatus(ask(ctx))
}

func (t *Task) evict(ctx context.Context) error {
	err := t.orchestrator.Evict(ctx, t.Evict.Workload, t.Evict.Reason)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w (%w)", cause, err)
	}
	return err
}

func (t *Task) release(ctx context.Context) error {
	return t.orchestrator.(extpoints.DeviceReleaser).ReleaseDevices(ctx, t.Release.Claim, t.Release.Left)
}

// ended is why ctx has ended, nil where it has not.
func ended(ctx context.Context) *extpoints.Status {
	return extpoints.AsStatus(context.Cause(ctx))
}

// Settle gives the task an outcome without running it; nil is success.
func (t *Task) Settle(err error) {
	if t.enter(made, settled) {
		t.Status = extpoints.AsStatus(err)
	}
}

// Finish takes the task back. It reports whether that was the first time. A task that
// has not run counts as failed.
func (t *Task) Finish() bool {
	if t.enter(settled, finished) {
		return true
	}
	if !t.enter(made, finished) && !t.enter(running, finished) {
		return false
	}
	t.Status = extpoints.AsStatus(errNotRun)
	return true
}

// Stop ends a Run that is to come, or under way but not at Bind yet; the
// outcome still counts.
func (t *Task) Stop(cause error) {
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

// Abandon ends a Run, at whatever stage, whose workload is no longer wanted there.
func (t *Task) Abandon(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.abandoned, t.cause = true, cause
	if t.cancel != nil {
		t.cancel(cause)
	}
}

// Abandoned reports whether nobody waits for the outcome any more.
func (t *Task) Abandoned() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.abandoned
}
