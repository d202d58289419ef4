package inproc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Task is what a workload does on its node. It is called on a goroutine of its
// own, and the workload runs until it returns: nil for success. When ctx ends
// it must return soon; context.Cause says why: ErrEvicted, ErrNodeLost,
// ErrDrained, ErrCancelled or ErrClosed. A task that panics, or ends its goroutine, has failed.
type Task func(ctx context.Context, b model.Binding) error

// Errors to compare with errors.Is. All but the last three are causes of the
// end of a run.
var (
	ErrEvicted   = errors.New("the workload is evicted")
	ErrNodeLost  = errors.New("the node is lost")
	ErrDrained   = errors.New("the node is being drained")
	ErrCancelled = errors.New("the workload is cancelled")
	ErrClosed    = errors.New("the orchestrator is closed")

	// ErrExists: the ID is taken.
	ErrExists = errors.New("there is one already")
	// ErrNotFound: there is no such node or workload.
	ErrNotFound = errors.New("not found")
	// ErrConnected: another engine is connected.
	ErrConnected = errors.New("an engine is connected already")
)

// End is the end of a run.
type End struct {
	Workload *model.Workload // as it was submitted; not to be changed
	Binding  model.Binding   // with the node and devices of this run
	// Err is what the task returned, or that it panicked or ended its goroutine.
	Err error
	// Cause is why the run was ended from outside, nil where it ended by
	// itself.
	Cause error
	// Run counts the workload's runs, from 1.
	Run int
}

// Next is what happens to a workload whose run has ended.
type Next uint8

// What may become of it.
const (
	Forget Next = iota // it is done with, and its ID is free again
	Retry              // it is placed again
)

// DefaultAfter is the policy where Options has none: what had to leave its node
// is placed again, and what ended by itself, well or not, is forgotten.
func DefaultAfter(e End) Next {
	if e.Cause != nil {
		return Retry
	}
	return Forget
}

// Options say how an orchestrator works. The zero value is good.
type Options struct {
	// After says what happens to a workload whose run has ended. It is called
	// on the run's goroutine and may take its time; until it returns the
	// workload keeps its room. It is not asked about cancelled ones, which are
	// forgotten. Default: DefaultAfter, which also stands in for one that panics.
	After func(End) Next
	// Failed is told when the engine refuses what it is told, which happens
	// only where somebody else changes the engine's record of what is ours or the
	// engine is broken, and of a panic of After. It
	// must not call the orchestrator. Where it panics itself nobody is told. Default: nobody is told.
	Failed func(error)
}

// Orchestrator is the orchestrator. All methods may be called by any goroutine.
type Orchestrator struct {
	opts Options
	runs sync.WaitGroup // one for each goroutine

	// mu guards everything below, and is held while the engine is told; see
	// the package comment.
	mu     sync.Mutex
	engine *engine.Engine // nil: none is connected
	nodes  map[string]*model.Node
	jobs   map[string]*job
	closed bool
}

// job is one workload: waiting to be bound, or running.
type job struct {
	workload *model.Workload
	task     Task
	starts   int
	run      *run // nil: it waits
}

// run is one run of a job.
type run struct {
	binding model.Binding
	stop    context.CancelCauseFunc
	cause   error // why it was told to stop
}

var _ extpoints.Orchestrator = (*Orchestrator)(nil)

// New makes an orchestrator without nodes and workloads. It starts nothing.
func New(opts Options) *Orchestrator {
	if opts.After == nil {
		opts.After = DefaultAfter
	}
	if opts.Failed == nil {
		opts.Failed = func(error) {}
	}
	opts.Failed = guarded(opts.Failed)
	return &Orchestrator{opts: opts, nodes: map[string]*model.Node{}, jobs: map[string]*job{}}
}

// guarded is the function, which may panic.
func guarded(f func(error)) func(error) {
	return func(err error) {
		defer func() { _ = recover() }()
		f(err)
	}
}

// everything describes the present state to an engine that knows nothing. The
// order of nodes and of workloads is that of their names, which is as good as
// any and the same each time.
func (o *Orchestrator) everything() []engine.Change {
	var changes []engine.Change
	for _, name := range slices.Sorted(maps.Keys(o.nodes)) {
		changes = append(changes, engine.PutNode(o.nodes[name]))
	}
	for _, id := range slices.Sorted(maps.Keys(o.jobs)) {
		j := o.jobs[id]
		if j.run == nil {
			changes = append(changes, engine.Submit(j.workload))
			continue
		}
		b := j.run.binding
		changes = append(changes, engine.Adopt(j.workload, model.Binding{Node: b.Node, Devices: b.Devices, Limit: b.Limit}))
		if j.run.cause != nil {
			changes = append(changes, engine.Terminate(id))
		}
	}
	return changes
}

// Connect tells the engine, which knows of nothing yet, of all nodes and
// workloads: those that run are adopted, those that wait submitted. From then
// on it hears of every change.
func (o *Orchestrator) Connect(e *engine.Engine) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return ErrClosed
	}
	if o.engine != nil {
		return ErrConnected
	}
	if err := e.Apply(o.everything()...); err != nil {
		return fmt.Errorf("connect the engine: %w", err)
	}
	o.engine = e
	return nil
}

// Disconnect makes room for another engine. The one that was connected hears of
// nothing any more; what runs goes on. Call it when the engine's Run has
// returned: an engine that goes on without hearing of anything is no use, but
// does no harm either.
func (o *Orchestrator) Disconnect() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.engine = nil
}

// Close ends all runs, with ErrClosed as the cause, and waits until every task
// has returned. The engine, if one is connected, does not hear of it. After
// that only Close may be called, except that Bind refuses and the others do
// nothing.
func (o *Orchestrator) Close() {
	o.mu.Lock()
	o.closed = true
	o.engine = nil
	for _, j := range o.jobs {
		if j.run != nil {
			j.run.end(ErrClosed)
		}
	}
	o.mu.Unlock()
	o.runs.Wait()
}

// Join lets a node join, or replaces the one of the same name. What was drained stays
// closed, so that an agent which starts again does not take work too soon: see Open.
func (o *Orchestrator) Join(n *model.Node) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := n.Validate(); err != nil {
		return err
	}
	if old := o.nodes[n.Name]; old != nil && old.Unschedulable {
		n = unschedulable(n, true)
	}
	return o.put(n)
}

// Open lets a node take workloads again that was drained, or that joined closed.
func (o *Orchestrator) Open(name string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, ok := o.nodes[name]
	if !ok {
		return fmt.Errorf("open node %q: %w", name, ErrNotFound)
	}
	return o.put(unschedulable(n, false))
}

// put tells the engine of the node, and keeps it.
func (o *Orchestrator) put(n *model.Node) error {
	if err := o.tell(engine.PutNode(n)); err != nil {
		return err
	}
	o.nodes[n.Name] = n
	return nil
}

// unschedulable returns the node closed, or open. What it points to is shared.
func unschedulable(n *model.Node, closed bool) *model.Node {
	other := *n
	other.Unschedulable = closed
	return &other
}

// Drain closes the node to new workloads until Open, and ends what runs on it, with
// ErrDrained as the cause.
func (o *Orchestrator) Drain(name string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, ok := o.nodes[name]
	if !ok {
		return fmt.Errorf("drain node %q: %w", name, ErrNotFound)
	}
	if err := o.put(unschedulable(n, true)); err != nil {
		return err
	}
	o.endAll(name, ErrDrained)
	return nil
}

// Kill makes the node disappear. What runs on it is ended, with ErrNodeLost as
// the cause. One of its name that joins later is another node.
func (o *Orchestrator) Kill(name string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.nodes[name]; !ok {
		return fmt.Errorf("kill node %q: %w", name, ErrNotFound)
	}
	if err := o.tell(engine.RemoveNode(name)); err != nil {
		return err
	}
	delete(o.nodes, name)
	o.endAll(name, ErrNodeLost)
	return nil
}

// Submit submits a workload; it is what runs when the workload has got a node.
func (o *Orchestrator) Submit(w *model.Workload, task Task) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		return ErrClosed
	case o.jobs[w.ID] != nil:
		return fmt.Errorf("submit workload %q: %w", w.ID, ErrExists)
	}
	if err := w.Validate(); err != nil {
		return err
	}
	if err := o.tell(engine.Submit(w)); err != nil {
		return err
	}
	o.jobs[w.ID] = &job{workload: w, task: task}
	return nil
}

// Cancel makes a workload go away: one that waits at once, one that runs when
// its task has returned, for which ErrCancelled is the cause.
func (o *Orchestrator) Cancel(id string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	j := o.jobs[id]
	switch {
	case j == nil:
		return fmt.Errorf("cancel workload %q: %w", id, ErrNotFound)
	case j.run != nil:
		o.end(j, ErrCancelled)
	default:
		delete(o.jobs, id)
		o.report(engine.Remove(id))
	}
	return nil
}

// end tells a run to end. The first cause is the one that counts, except that
// cancelling is final.
func (o *Orchestrator) end(j *job, cause error) {
	if j.run.end(cause) {
		o.report(engine.Terminate(j.workload.ID))
	}
}

// end reports whether the run had not been told before.
func (r *run) end(cause error) bool {
	first := r.cause == nil
	if first || errors.Is(cause, ErrCancelled) {
		r.cause = cause
	}
	r.stop(cause)
	return first
}

// endAll tells all runs on the node to end.
func (o *Orchestrator) endAll(node string, cause error) {
	for _, id := range slices.Sorted(maps.Keys(o.jobs)) {
		if j := o.jobs[id]; j.run != nil && j.run.binding.Node == node {
			o.end(j, cause)
		}
	}
}

// tell tells the engine of something that it may refuse.
func (o *Orchestrator) tell(changes ...engine.Change) error {
	if o.engine == nil {
		return nil // Connect will
	}
	return o.engine.Apply(changes...)
}

// report tells the engine of something that has happened.
func (o *Orchestrator) report(changes ...engine.Change) {
	if err := o.tell(changes...); err != nil {
		o.opts.Failed(err)
	}
}
