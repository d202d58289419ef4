package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/queue"
)

// Engine is a [Raw] with a clock and goroutines: it schedules by itself for as
// long as Run runs. All methods may be called by any goroutine, before, while
// and after Run runs.
//
// Goroutines, all started by Run and all joined when it returns: the caller's
// own, which schedules; and one for each task under way, at most
// Config.MaxBindings. (Workers that share one decision end before it is made.)
// One lock guards the Raw; it is held for one call of the Raw at a time and
// never while a task runs, a listener apart.
type Engine struct {
	mu  sync.Mutex
	raw *Raw
	// made is when the engine was made. The time that the Raw is given is what
	// has passed since then by the monotonic clock: a wall clock that is set
	// back must not make its time run backwards.
	made time.Time

	wake    chan struct{} // something may be to do; holds at most one
	started bool
	// slots and evictions have one place for each binding and for each eviction
	// that may be under way.
	slots, evictions chan struct{}
	tasks            sync.WaitGroup
}

// New makes an engine. It starts nothing. The error lists every problem of the
// configuration and of its profiles.
func New(cfg Config) (*Engine, error) {
	raw, err := NewRaw(cfg)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		raw: raw, made: time.Now(), wake: make(chan struct{}, 1),
		slots:     make(chan struct{}, raw.cfg.MaxBindings),
		evictions: make(chan struct{}, raw.cfg.MaxBindings),
	}
	raw.commands.Wake = e.poke
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
	e.locked(f)
	e.poke()
}

func (e *Engine) locked(f func(r *Raw, now time.Time)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	// Round strips the monotonic reading, which no record keeps.
	f(e.raw, e.made.Add(time.Since(e.made)).Round(0))
}

// Run schedules until ctx ends, and then lets tasks under way finish for at
// most Config.DrainTimeout; those that do not are cancelled with ErrStopped as
// the cause. It returns nil when everything it started has ended. It can be
// called once.
func (e *Engine) Run(ctx context.Context) error {
	e.mu.Lock()
	if e.started {
		e.mu.Unlock()
		return ErrRunning
	}
	e.started = true
	e.raw.decider.Answers.Under(ctx) // an extender must not hold up the end
	e.mu.Unlock()

	// Tasks outlive ctx: they get what is left of the drain timeout.
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	e.loop(ctx, work)
	e.drain(stop)
	e.locked(func(r *Raw, now time.Time) { r.CallOff(now, ErrStopped) })
	return nil
}

// loop is the scheduling loop.
func (e *Engine) loop(ctx, work context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		busy, due := e.step(work)
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

// step does what is due, starts the tasks that are ready, and schedules one
// workload. It reports whether there may be more to do at once, and if not,
// when there will be. While tasks are left over for want of a place, nothing
// is scheduled: what cannot be bound need not be decided yet.
func (e *Engine) step(work context.Context) (busy bool, due time.Duration) {
	e.locked(func(r *Raw, now time.Time) { r.Tick(now) })
	leftOver := e.startTasks(work)
	e.locked(func(r *Raw, now time.Time) {
		if !leftOver {
			// An eviction that is left over for want of a place is not to be done
			// now: the one that leaves a place wakes the loop.
			place := len(e.evictions) < cap(e.evictions)
			busy = r.Schedule(now) || r.tasks.NextBinding(false) != nil || place && r.tasks.NextEviction(false) != nil
		}
		due = longestSleep
		if at, ok := r.NextDue(now); ok {
			due = min(max(at.Sub(now), 0), longestSleep)
		}
	})
	return busy, due
}

// startTasks starts the tasks that are ready, as long as there are places. It
// reports whether bindings are left over. Evictions have places of their own: a
// binding may be waiting for the room that one of them makes.
func (e *Engine) startTasks(work context.Context) (leftOver bool) {
	e.start(work, e.evictions, (*tasks.Book).NextEviction)
	return e.start(work, e.slots, (*tasks.Book).NextBinding)
}

// start starts tasks of one kind. It reports whether some are left over for want
// of a place.
func (e *Engine) start(work context.Context, slots chan struct{}, next func(b *tasks.Book, take bool) *tasks.Task) (leftOver bool) {
	for {
		var t *tasks.Task
		select {
		case slots <- struct{}{}:
			e.locked(func(r *Raw, _ time.Time) { t = next(r.tasks, true) })
		default:
			e.locked(func(r *Raw, _ time.Time) { t = next(r.tasks, false) })
			return t != nil
		}
		if t == nil {
			<-slots
			return false
		}
		e.tasks.Go(func() { e.runTask(work, asTask(t), slots) })
	}
}

// runTask runs one task on its own goroutine. The task is given back even if
// Run does not return, because a plugin ended the goroutine.
func (e *Engine) runTask(work context.Context, t *Task, slots chan struct{}) {
	defer func() {
		<-slots // before the poke, so that the loop finds the place free
		e.do(func(r *Raw, now time.Time) { r.Finish(now, t) })
	}()
	t.Run(work)
}

// drain waits for the tasks under way.
func (e *Engine) drain(stop context.CancelCauseFunc) {
	if timeout := e.raw.cfg.DrainTimeout; timeout > 0 {
		timer := time.AfterFunc(timeout, func() { stop(ErrStopped) })
		defer timer.Stop()
	} else {
		stop(ErrStopped)
	}
	e.tasks.Wait()
}

// Apply makes the changes, all or none; see [Raw.Apply].
func (e *Engine) Apply(changes ...Change) (err error) {
	e.do(func(r *Raw, now time.Time) { err = r.Apply(now, changes...) })
	return err
}

// Evict asks the orchestrator to make a workload leave its node; see
// [Raw.Evict].
func (e *Engine) Evict(id, reason string) (err error) {
	e.do(func(r *Raw, now time.Time) { err = r.Evict(now, id, reason) })
	return err
}

// Explain says why a workload is where it is; see [Raw.Explain]. The engine
// goes on meanwhile.
func (e *Engine) Explain(id string, o ExplainOptions) (*Explanation, error) {
	var explain func() (*Explanation, error)
	var err error
	e.locked(func(r *Raw, now time.Time) { explain, err = r.explainer(now, id, o) })
	if err != nil {
		return nil, err
	}
	return explain()
}

// Branch returns a branch of the engine as it is now.
func (e *Engine) Branch() (b *Branch) {
	e.locked(func(r *Raw, _ time.Time) { b = r.Branch() })
	return b
}

// View returns the facts as they are now.
func (e *Engine) View() (v *View) {
	e.locked(func(r *Raw, _ time.Time) { v = r.View() })
	return v
}

// Queue says where a workload is in the queue and why; false where it is not
// in the queue.
func (e *Engine) Queue(id string) (p queue.Position, ok bool) {
	e.locked(func(r *Raw, _ time.Time) { p, ok = r.Queue(id) })
	return p, ok
}

// QueueCounts says how many workloads are in each part of the queue.
func (e *Engine) QueueCounts() (c queue.Counts) {
	e.locked(func(r *Raw, _ time.Time) { c = r.QueueCounts() })
	return c
}

var errNoTask = errors.New("there is no such task")
