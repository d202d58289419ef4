package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berth-project/berth/engine/internal/callers"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/queue"
)

// Engine is a [Raw] with a clock and goroutines: it schedules by itself for as
// long as Run runs. All methods may be called by any goroutine, before, while
// and after Run runs.
//
// Goroutines, all started by Run and all joined when it returns: one that schedules,
// and one for each task under way, at most
// Config.MaxBindings bindings and as many evictions, and as many again of each that have not
// returned although their time is over. (Workers that share one decision end before it is made.)
// One lock guards the Raw; it is held for one call of the Raw at a time, listeners
// and plugins that it calls included, and never while a task runs. View, QueueCounts and
// Running take no lock. Branch, Queue and Queues take none while a large Apply is under
// way, one of 1000 changes or more: they answer as of before it. Queue does so unless more
// wait than there are changes, since all their places are noted first, or the order is by
// queues. Explain, Promise and Waiting depend on the order of all that wait, and wait for
// the lock.
//
// Listeners, and plugins while the engine decides, may call View, QueueCounts and Running, and
// Activate, Allow and Reject as everybody may. Other methods of an engine, this or
// another, get the lock at once there or not at all: they return ErrCalledBack, and
// Branch and Queue panic with it. To do more, start a goroutine and do not wait for it.
type Engine struct {
	mu  sync.Mutex
	raw *Raw
	// counts are those of the queue when the lock was last let go.
	counts atomic.Pointer[queue.Counts]
	// before is what was before the large Apply that is under way, nil where none is. A large
	// Apply takes the readers' lock until it has said what was before it, so that no reader
	// that has got it waits for a large Apply.
	before  atomic.Pointer[before]
	readers sync.RWMutex
	// made is when the engine was made. The time that the Raw is given is what
	// has passed since then by the monotonic clock: a wall clock that is set
	// back must not make its time run backwards.
	made time.Time

	wake    chan struct{} // something may be to do; holds at most one
	started bool
	runs    atomic.Bool // Run is being called
	// starting is the recording that is to begin; nil for none. The lock guards it.
	starting *starting
	// running are the tasks under way, binding and leaving their places. All are guarded by
	// the lock: a task gives its place back under the lock under which it is finished, so no
	// semaphore is needed besides.
	running          map[*tasks.Task]bool
	binding, leaving places
	tasks            sync.WaitGroup
}

// New makes an engine. It starts nothing. The error lists every problem of the
// configuration and of its profiles.
func New(cfg Config) (*Engine, error) {
	made := time.Now()
	if cfg.Clock == nil {
		cfg.Clock = func() time.Duration { return time.Since(made) }
	}
	raw, err := NewRaw(cfg)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		raw: raw, made: made, wake: make(chan struct{}, 1),
		running: map[*tasks.Task]bool{}, binding: newPlaces(raw.cfg), leaving: newPlaces(raw.cfg),
	}
	raw.commands.Wake = e.poke
	e.counts.Store(&queue.Counts{})
	return e, nil
}

// poke wakes the scheduling loop.
func (e *Engine) poke() {
	select {
	case e.wake <- struct{}{}:
	default: // it is awake already
	}
}

// do calls the Raw with the present time, and wakes the loop.
func (e *Engine) do(f func(r *Raw, now time.Time)) {
	defer e.poke() // also where the goroutine is ended
	e.locked(f)
}

func (e *Engine) locked(f func(r *Raw, now time.Time)) {
	e.mu.Lock()
	e.hold(f)
}

// hold calls f with the lock, and lets go of it. A callback of the engine
// has this function on its stack, see [callers.Callback].
func (e *Engine) hold(f func(r *Raw, now time.Time)) {
	defer e.mu.Unlock()
	defer func() {
		if counts := e.raw.QueueCounts(); counts != *e.counts.Load() {
			e.counts.Store(&counts)
		}
	}()
	// Round strips the monotonic reading, which no record keeps.
	f(e.raw, e.made.Add(time.Since(e.made)).Round(0))
}

// lock takes the lock for a method. A listener or a plugin never waits for it: it may
// be its own caller that has it.
func (e *Engine) lock(method string) error {
	return takeLock(method, e.mu.TryLock, e.mu.Lock)
}

// takeLock takes a lock of the engine for a method. A callback that would have to wait is refused.
func takeLock(method string, try func() bool, wait func()) error {
	if try() {
		return nil
	}
	if from := callers.Callback(); from != "" {
		return fmt.Errorf("%w: %s was called from %s", ErrCalledBack, method, from)
	}
	wait()
	return nil
}

// call is do for a method that anybody may call.
func (e *Engine) call(method string, f func(r *Raw, now time.Time) error) (err error) {
	if err := e.lock(method); err != nil {
		return err
	}
	defer e.poke()
	e.hold(func(r *Raw, now time.Time) { err = f(r, now) })
	return err
}

// Run schedules until ctx ends, and then lets tasks under way finish for at
// most Config.DrainTimeout; those that do not are cancelled with ErrStopped as
// the cause. It returns nil when everything it started has ended. Tasks that do not
// heed that their context has ended are left behind after 5 more seconds: the error is
// ErrTasksLeft and names them, their workloads stay as they are (Assumed, or on their
// nodes), and if one returns after all its outcome is recorded. Where the engine breaks, Run
// cancels what is under way and returns the error, an ErrBroken. Run can be called once.
func (e *Engine) Run(ctx context.Context) error {
	if err := e.lock("Run"); err != nil {
		return err
	}
	if e.started {
		e.mu.Unlock()
		return ErrRunning
	}
	e.started = true
	e.runs.Store(true)
	e.raw.decider.Answers.Under(ctx) // an extender must not hold up the end
	e.mu.Unlock()

	// Tasks outlive ctx: they get what is left of the drain timeout.
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	looped := make(chan struct{})
	go e.loop(ctx, work, looped)
	<-looped
	e.locked(func(r *Raw, _ time.Time) {
		if r.broken != nil {
			stop(r.broken)
		}
	})
	left := e.drain(stop)
	var broken error
	e.locked(func(r *Raw, now time.Time) {
		broken = r.try("CallOff", now, func() { r.callOff(now, ErrStopped, r.nextTask) })
		e.runs.Store(false)
		e.beginRecording(r, now)
	})
	if broken != nil {
		return errors.Join(broken, left)
	}
	return left
}

// Running reports whether Run is being called: whether what waits is tried. Anybody may
// call it, also a listener or a plugin: it waits for nobody.
func (e *Engine) Running() bool { return e.runs.Load() }

// loop is the scheduling loop. It has a goroutine of its own, because a plugin may end it.
func (e *Engine) loop(ctx, work context.Context, looped chan<- struct{}) {
	defer close(looped)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		busy, due, err := e.step(ctx, work)
		if err != nil {
			return
		}
		if busy {
			continue
		}
		timer.Reset(due)
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		case <-timer.C:
		}
	}
}

// longestSleep is how long the loop sleeps where nothing is due.
const longestSleep = time.Hour

// step does what is due, schedules one workload, and starts the tasks that are ready.
// It reports whether there may be more to do at once, and if not, when there will be.
// While bindings are left over because all places are taken, nothing is scheduled: what
// cannot be bound need not be decided yet. Once ctx has ended, what was decided meanwhile
// is called off and not begun. The error is that the engine is broken.
func (e *Engine) step(ctx, work context.Context) (busy bool, due time.Duration, err error) {
	e.locked(func(r *Raw, now time.Time) { err = r.try("Tick", now, func() { r.tick(now) }) })
	if err != nil {
		return false, 0, err
	}
	e.locked(func(r *Raw, now time.Time) {
		if !e.beginRecording(r, now) && e.mayTry(r) {
			err = r.try("Schedule", now, func() { busy = r.schedule(now) })
		}
		due = longestSleep
		if at, ok := r.NextDue(now); ok {
			due = min(max(at.Sub(now), 0), longestSleep)
		}
	})
	for err == nil && ctx.Err() == nil && e.startTask(work) {
		busy = true
	}
	return busy, due, err
}

// startTask starts a task that is ready, if there is a place for it. It reports whether
// it did. Evictions have places of their own: a binding may be waiting for the room
// that one of them makes. What was called off before it began needs no place, since it
// ends at once: else it would wait for others on its node that may never return.
func (e *Engine) startTask(work context.Context) bool {
	var t, off *tasks.Task
	e.locked(func(r *Raw, _ time.Time) {
		if off = r.tasks.NextCalledOff(); off != nil {
			return
		}
		if e.leaving.free() {
			if t = r.tasks.NextLeavingFrom(func(node string) bool { return e.leaving.may(r, node) }); t != nil {
				e.leaving.take(r, t)
			}
		}
		if t == nil && e.binding.free() {
			if t = r.tasks.NextBindingTo(func(node string) bool { return e.binding.may(r, node) }); t != nil {
				e.binding.take(r, t)
			}
		}
		if t != nil {
			e.running[t] = true
		}
	})
	switch {
	case off != nil:
		e.runTask(work, off)
	case t != nil:
		e.tasks.Go(func() { e.runTask(work, t) })
	}
	return off != nil || t != nil
}

// runTask runs one task, on its own goroutine if that may take time. The task is given back even if
// Run does not return, because a plugin ended the goroutine.
func (e *Engine) runTask(work context.Context, t *tasks.Task) {
	defer e.do(func(r *Raw, now time.Time) {
		delete(e.running, t)
		e.binding.giveBack(t)
		e.leaving.giveBack(t)
		_ = r.try("Finish", now, func() { r.finish(now, t) }) // the loop ends where that breaks the engine
	})
	t.Run(work, tasks.Limit{
		Timeout: e.raw.cfg.BindTimeout, Cause: ErrBindTimeout,
		Watch: func(timeout time.Duration) func() bool {
			return time.AfterFunc(timeout+heedTimeout, func() { e.overdue(t) }).Stop
		},
	})
}

// overdue is told of a task that has not returned although its time is over.
func (e *Engine) overdue(t *tasks.Task) {
	e.do(func(r *Raw, now time.Time) {
		if e.binding.giveAway(t) || e.leaving.giveAway(t) {
			r.listener.Failed(FailedEvent{At: now, Workload: t.Workload().ID, Err: fmt.Errorf("%v: %w, and has not returned %v after it was told to: its place is given to others, and its outcome counts when it comes", t, ErrBindTimeout, heedTimeout)})
		}
	})
}

// heedTimeout is how long tasks may take to return once they are cancelled.
const heedTimeout = 5 * time.Second

// drain waits for the tasks under way, and cancels those that take too long. Those that
// do not return then either are named in the error.
func (e *Engine) drain(stop context.CancelCauseFunc) error {
	if e.awaitTasks(e.raw.cfg.DrainTimeout) {
		return nil
	}
	stop(ErrStopped)
	if e.awaitTasks(heedTimeout) {
		return nil
	}
	var left []*tasks.Task
	e.locked(func(*Raw, time.Time) { left = slices.Collect(maps.Keys(e.running)) })
	slices.SortFunc(left, func(a, b *tasks.Task) int { return cmp.Compare(a.Number, b.Number) })
	return fmt.Errorf("%w: %v", ErrTasksLeft, left)
}

// awaitTasks waits until no task is under way, but not longer than the timeout. It
// reports whether all have ended.
func (e *Engine) awaitTasks(timeout time.Duration) bool {
	timer := time.NewTimer(max(timeout, 0))
	defer timer.Stop()
	for {
		none := false
		e.locked(func(*Raw, time.Time) { none = len(e.running) == 0 })
		if none {
			e.tasks.Wait() // for the last steps of their goroutines
			return true
		}
		select {
		case <-e.wake: // by a task that has ended, among others
		case <-timer.C:
			return false
		}
	}
}

// Evict asks the orchestrator to make a workload leave its node; see
// [Raw.Evict].
func (e *Engine) Evict(id, reason string) error {
	return e.call("Evict", func(r *Raw, now time.Time) error { return r.Evict(now, id, reason) })
}

// Explain says why a workload is where it is; see [Raw.Explain]. The engine
// goes on meanwhile.
func (e *Engine) Explain(id string, o ExplainOptions) (*Explanation, error) {
	if err := e.lock("Explain"); err != nil {
		return nil, err
	}
	var explain func() (*Explanation, error)
	var err error
	running, why := false, ""
	e.hold(func(r *Raw, now time.Time) {
		running, why = e.runs.Load(), e.rests(r)
		explain, err = r.explainer(now, id, o)
	})
	if err != nil {
		return nil, err
	}
	x, err := explain()
	x.NotRunning = !running
	x.rests(why)
	return x, err
}

// rests is why nothing that waits is tried now; empty where it is.
func (e *Engine) rests(r *Raw) string {
	switch {
	case !e.runs.Load():
		return "the engine does not run: Engine.Run was not called, or has ended"
	case e.awaitsRecording(r):
		return "nothing is tried before the recording begins that Engine.StartRecording waits for"
	case !e.mayTry(r):
		return fmt.Sprintf("nothing is tried before a binding has returned: all %d places are taken (Config.MaxBindings)", e.raw.cfg.MaxBindings)
	}
	return r.rests()
}

// mayTry reports whether there is a place for what would be bound next.
func (e *Engine) mayTry(r *Raw) bool { return e.binding.free() || r.tasks.NextBinding(false) == nil }

var errNoTask = errors.New("there is no such task")
