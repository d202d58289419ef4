package inproc

import (
	"context"
	"errors"
	"fmt"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Bind starts the workload's task on the node. To start what runs there already
// is a success and starts nothing; what runs elsewhere, is not known, or would
// go to a node that is not there is refused.
func (o *Orchestrator) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if o.closed {
		return ErrClosed
	}
	j := o.jobs[w.ID]
	if j == nil {
		return fmt.Errorf("bind workload %q: Submit of this orchestrator was not called for it: %w", w.ID, ErrNotFound)
	}
	if r := j.run; r != nil {
		switch {
		case r.cause != nil:
			return fmt.Errorf("bind workload %q: it is still leaving node %q: %w", w.ID, r.binding.Node, r.cause)
		case r.binding.Node != b.Node:
			return fmt.Errorf("bind workload %q to node %q: it runs on node %q", w.ID, b.Node, r.binding.Node)
		}
		return nil
	}
	n := o.nodes[b.Node]
	if n == nil {
		return fmt.Errorf("bind workload %q to node %q: %w", w.ID, b.Node, ErrNotFound)
	}
	if n.Unschedulable {
		return fmt.Errorf("bind workload %q to node %q: %w", w.ID, b.Node, ErrDrained)
	}
	o.start(j, b)
	return nil
}

// Evict tells the workload's task to end. It returns at once; that the task has
// returned is reported later. What does not run has left already.
func (o *Orchestrator) Evict(_ context.Context, w *model.Workload, reason string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if j := o.jobs[w.ID]; j != nil && j.run != nil {
		o.end(j, fmt.Errorf("%w: %s", ErrEvicted, reason))
	}
	return nil
}

// start starts a run. The engine hears of it before the run can end.
func (o *Orchestrator) start(j *job, b model.Binding) {
	ctx, stop := context.WithCancelCause(context.Background())
	r := &run{binding: b, stop: stop}
	j.run = r
	j.starts++
	o.runs.Go(func() { o.work(ctx, j, r) })
	o.report(engine.Confirm(b))
}

// work is the goroutine of a run, from its start to the report of its end.
func (o *Orchestrator) work(ctx context.Context, j *job, r *run) {
	err := errEndedGoroutine // where the task does not return
	defer func() {
		r.stop(nil)
		o.ended(j, r, err)
	}()
	err = perform(ctx, j.task, r.binding)
}

// ended asks what happens to the workload of a run that has ended, and reports it.
func (o *Orchestrator) ended(j *job, r *run, err error) {
	o.mu.Lock()
	e := End{Workload: j.workload, Binding: r.binding, Err: err, Cause: r.cause, Run: j.starts}
	o.mu.Unlock()
	next := Forget
	defer func() { o.leave(j, r, next) }() // also where After does not return
	if !errors.Is(e.Cause, ErrCancelled) && !errors.Is(e.Cause, ErrClosed) {
		next = DefaultAfter(e)
		next = o.after(e)
	}
}

// after asks Options.After. Where it panics, the default policy stands in for it.
func (o *Orchestrator) after(e End) (next Next) {
	next = DefaultAfter(e)
	defer func() {
		if cause := recover(); cause != nil {
			o.opts.Failed(fmt.Errorf("Options.After panicked about workload %q: %v", e.Workload.ID, cause))
		}
	}()
	return o.opts.After(e)
}

// leave ends the run and reports what happens to its workload.
func (o *Orchestrator) leave(j *job, r *run, next Next) {
	o.mu.Lock()
	defer o.mu.Unlock()
	j.run = nil
	if errors.Is(r.cause, ErrCancelled) {
		next = Forget // perhaps not until After was asked
	}
	if id := j.workload.ID; next == Retry {
		o.report(engine.Requeue(id))
	} else {
		delete(o.jobs, id)
		o.report(engine.Remove(id))
	}
}

var errEndedGoroutine = errors.New("the task has ended its goroutine")

// perform runs the task and makes an error of a panic.
func perform(ctx context.Context, task Task, b model.Binding) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the task of workload %q panicked: %v", b.Workload, cause)
		}
	}()
	return task(ctx, b)
}
