// Package tasks has what is done outside the engine: bindings, evictions, and claims
// that are to give back their devices. Each is a [Task], which runs once, on any
// goroutine; a [Book] knows which are under way. Here are also the workloads that wait
// on Permit before they are bound, and the commands by which plugins let them go on.
package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/berth-project/berth/engine/internal/callers"
	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/framework"
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
	// those that wait were not told; of a lone workload.
	Objects []store.Change
}

// Eviction is what an evicting task is about.
type Eviction struct {
	Workload *model.Workload
	Node     string
	Since    time.Time // when it was asked for
	Reason   string
	// By is for whom room is to be made, or nobody.
	By preempt.Beneficiary
	// Asked: somebody else wants it, through Raw.Evict.
	Asked bool
}

// Release is what a task is about that takes devices, or a reservation, back from a
// claim.
type Release struct {
	Workload *model.Workload // for which
	Claim    *model.DeviceClaim
	Left     *model.DeviceClaim // what is left of it; nil: it goes
	// Gone is the workload, where it is the one for which the claim was written, and is not
	// there any more: outside the claim may still be reserved for it.
	Gone bool
}

// given is the claim as the orchestrator is to have it.
func (r *Release) given() *model.DeviceClaim {
	if !r.Gone {
		return r.Claim
	}
	claim := *r.Claim
	claim.ReservedFor = append(slices.Clip(claim.ReservedFor), model.Consumer{Workload: r.Workload.ID})
	return &claim
}

// Task is work for the orchestrator: a binding, an eviction or a release. Exactly one
// of Member, Evict and Release is set.
type Task struct {
	Number  uint64 // in the order in which tasks are made
	Member  *Member
	Evict   *Eviction
	Release *Release

	// Permitted: a binding is past Permit, so failures are failures.
	Permitted bool
	// Since is when a binding got past Permit, or when it was abandoned.
	Since time.Time
	// Evicted is the eviction of a binding's workload, where that was asked for
	// meanwhile.
	Evicted *Eviction

	// Status is the outcome, and Failed what went wrong without changing it. They and
	// Written are written while the task runs, and belong to the engine before and after.
	Status *extpoints.Status
	Failed []error
	// Written are the kinds of objects of which what was decided for a binding may have
	// been written.
	Written []model.ObjectKind

	orchestrator extpoints.Orchestrator

	mu        sync.Mutex
	stage     stage
	cancel    context.CancelCauseFunc // set by Run
	cause     error                   // why Run must end early
	prebound  bool                    // Bind may have begun: it is too late for Stop
	deadline  time.Time               // when the limit ends Bind or PostBind, once it has begun
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

// The outcomes of a task that was given back without one.
var (
	errNotRun = errors.New("the task was given back before it had run")
	errExited = errors.New("the task was given back before it had ended, or its goroutine was (runtime.Goexit) by what it called")
)

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

// Workload is the workload to bind or evict, or for which a claim is to lose its
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

// String says what the task does, for messages.
func (t *Task) String() string {
	switch {
	case t.Evict != nil:
		return fmt.Sprintf("evict workload %q from node %q", t.Evict.Workload.ID, t.Evict.Node)
	case t.Release != nil:
		return fmt.Sprintf("release claim %q", t.Release.Claim.ID)
	}
	return fmt.Sprintf("bind workload %q to node %q", t.Member.Info.ID, t.Node())
}

// Node is where a binding goes, and where an eviction is; empty for a release.
func (t *Task) Node() string {
	switch {
	case t.Evict != nil:
		return t.Evict.Node
	case t.Member != nil:
		return t.Member.Binding.Node
	}
	return ""
}

// Limit is how long one call to the orchestrator, or to the plugin or extender that binds,
// may take, and why its context ends then. Watch, where it is set, is told of each call how
// long it may take, and returns what to call when it has returned. The zero Limit is none.
type Limit struct {
	Timeout time.Duration
	Cause   error
	Watch   func(timeout time.Duration) (returned func() bool)
}

func (l Limit) start(ctx context.Context) (context.Context, context.CancelFunc) {
	if l.Timeout <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.Timeout, l.Cause)
	if l.Watch == nil {
		return ctx, cancel
	}
	returned := l.Watch(l.Timeout)
	return ctx, func() { returned(); cancel() }
}

// longer is the limit for who ends it by a timeout of its own.
func (l Limit) longer(own time.Duration) Limit {
	if l.Timeout > 0 {
		l.Timeout += own
	}
	return l
}

// Run does the work. A task runs once; another Run does nothing.
func (t *Task) Run(ctx context.Context, limit Limit) {
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
		t.runGuarded(ctx, limit, t.evict)
	case t.Release != nil:
		t.runGuarded(ctx, limit, t.release)
	default:
		t.bind(ctx, limit)
		t.noteWritten()
	}
	t.enter(running, settled)
}

// bind runs PreBind, Bind and PostBind.
func (t *Task) bind(ctx context.Context, limit Limit) {
	m := t.Member
	if t.Status = ended(ctx); t.Status != nil {
		return
	}
	within := func(ctx context.Context, own time.Duration) (context.Context, context.CancelFunc) {
		return limit.longer(own).start(ctx)
	}
	if t.Status = m.Framework.PreBind(ctx, within, m.State, m.Info, &m.Binding); t.Status != nil {
		return
	}
	// The last moment at which it can be called off for sure.
	if t.Status = t.prebind(ctx); t.Status != nil {
		return
	}
	limited, cancel := limit.start(ctx)
	defer cancel()
	t.noteDeadline(limited)
	if t.Status, t.Failed = m.Framework.Bind(limited, m.State, m.Info, &m.Binding); t.Status != nil {
		return
	}
	if m.Framework.Improved() {
		cancel()
		limited, cancel := limit.start(ctx)
		defer cancel()
		t.noteDeadline(limited)
		ctx = limited
	}
	t.postBind(ctx)
}

// postBind tells the PostBind plugins. The workload is bound, whatever they do: also one that ends
// the goroutine does not change the outcome.
func (t *Task) postBind(ctx context.Context) {
	m, whole := t.Member, false
	defer func() {
		if whole {
			return
		}
		t.Failed = append(t.Failed, fmt.Errorf("PostBind of workload %q: %w", m.Info.ID, callers.Why(nil)))
		t.noteWritten()
		t.enter(running, settled)
	}()
	t.Failed = append(t.Failed, m.Framework.PostBind(ctx, m.State, m.Info, &m.Binding)...)
	whole = true
}

// noteDeadline notes when ctx ends by itself.
func (t *Task) noteDeadline(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, _ := ctx.Deadline()
	t.deadline = at.Round(0)
}

// Deadline is when the limit ends Bind, or PostBind after it; zero before it has begun, and where there is no
// limit.
func (t *Task) Deadline() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.deadline
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
func (t *Task) runGuarded(ctx context.Context, limit Limit, ask func(context.Context) error) {
	ctx, cancel := limit.start(ctx)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			t.Status = extpoints.AsStatus(fmt.Errorf("the orchestrator panicked: %v", cause))
		}
	}()
	if t.Status = ended(ctx); t.Status != nil {
		return
	}
	err := extpoints.AsStatus(ask(ctx)).AsError()
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w (%w)", cause, err)
	}
	t.Status = extpoints.AsStatus(err)
}

func (t *Task) evict(ctx context.Context) error {
	return t.orchestrator.Evict(ctx, t.Evict.Workload, t.Evict.Reason)
}

func (t *Task) release(ctx context.Context) error {
	return t.orchestrator.(extpoints.DeviceReleaser).ReleaseDevices(ctx, t.Release.given(), t.Release.Left)
}

// ended is why ctx has ended, nil where it has not.
func ended(ctx context.Context) *extpoints.Status {
	return extpoints.AsStatus(context.Cause(ctx))
}

// Settle gives the task an outcome without running it, as if it had run up to the last
// call; nil is success.
func (t *Task) Settle(err error) {
	if !t.enter(made, settled) {
		return
	}
	t.Status = extpoints.AsStatus(err)
	if m := t.Member; m != nil && !errors.Is(t.Status.AsError(), extpoints.ErrNotWritten) {
		t.Written = m.Framework.WouldWrite(m.State, &m.Binding)
	}
}

// CallOff gives the task an outcome instead of running it.
func (t *Task) CallOff(cause error) {
	if t.enter(made, settled) {
		t.Status = extpoints.AsStatus(cause)
	}
}

// Replay gives the task an outcome that was recorded.
func (t *Task) Replay(st *extpoints.Status, failed []error, written []model.ObjectKind) {
	if t.enter(made, settled) {
		t.Status, t.Failed, t.Written = st, failed, written
	}
}

// Finish takes the task back, its texts made valid. It reports whether that was the first
// time. A task that has not run counts as failed.
func (t *Task) Finish() bool {
	switch {
	case t.enter(settled, finished):
		t.Status = framework.ValidStatus(t.Status)
		for i, err := range t.Failed {
			t.Failed[i] = framework.ValidError(err)
		}
	case t.enter(made, finished):
		t.Status = extpoints.AsStatus(errNotRun)
	case t.enter(running, finished):
		t.Status = extpoints.AsStatus(errExited)
		t.noteWritten()
	default:
		return false
	}
	return true
}

// noteWritten notes what a binding that has run, or still does, may have written.
func (t *Task) noteWritten() {
	if m := t.Member; m != nil {
		t.Written = m.Framework.Written(m.State)
	}
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

// Cancel ends a Run, at whatever stage; the outcome still counts.
func (t *Task) Cancel(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cause != nil {
		return
	}
	t.cause = cause
	if t.cancel != nil {
		t.cancel(cause)
	}
}

// abandon ends a Run, at whatever stage, whose workload is no longer wanted there.
func (t *Task) abandon(cause error) {
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
