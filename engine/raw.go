package engine

import (
	"context"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/preempt"
	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/engine/internal/wake"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Raw is the engine without goroutines and without a clock: every method does
// its work before it returns, and time is an argument that must not go
// backwards. What must be done outside (binding, evicting) is handed out as
// [Task]s. Given the same calls it makes the same decisions and raises the same
// events, for any number of workers; see [Recorder] and [Replay].
//
// It is for tests, simulations and programs with a loop of their own; others
// use [Engine]. The methods may not be called by two goroutines at the same
// time. Only what the comments of [Task.Run], [extpoints.WaitingWorkload] and
// [extpoints.Handle] say may happen beside them.
type Raw struct {
	cfg      *Config
	rec      *record.Record
	decider  *decide.Decider
	meter    *Meter // nil where nothing is measured
	queue    *queue.Queue
	listener Listener
	recorder *Recorder

	permits  *tasks.Permits
	commands tasks.Commands
	tasks    *tasks.Book
	room     *preempt.Book
	wake     *wake.Waker
	lastWhy  map[string]Reason
	memory   decide.Memory
}

// NewRaw makes an engine without goroutines. The error lists every problem of
// the configuration and of its profiles.
func NewRaw(cfg Config) (*Raw, error) {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := &Raw{
		listener: guardedTee(cfg.Logger, logListener(cfg.Logger), cfg.Listener),
		recorder: cfg.Recorder,
		tasks:    tasks.NewBook(cfg.Orchestrator),
		lastWhy:  map[string]Reason{},
		memory:   decide.Memory{Limit: cfg.Decisions},
		cfg:      &cfg, rec: record.New(),
	}
	r.permits = tasks.NewPermits(&r.commands)
	env := framework.Env{
		Logger:       cfg.Logger,
		Orchestrator: cfg.Orchestrator,
		Waiting:      r.permits,
		Activate:     func(ids ...string) { r.commands.Add(tasks.Command{Activate: ids}) },
		UnderWay:     func(id string) bool { return r.room.UnderWay(id) },
		View:         func() extpoints.View { return r.rec.View },
		Extenders:    framework.NewExtenders(cfg.Extenders),
	}
	env.Preempters = decide.Preempters(env.Extenders)
	meter := cfg.Meter.guarded(cfg.Logger)
	env.Meter = meter.forProfiles()
	profiles, err := decide.NewProfiles(cfg.Profiles, cfg.Registry, env)
	if err != nil {
		return nil, err
	}
	r.decider = &decide.Decider{
		Options: decide.Options{
			Workers: cfg.Workers, Seed: cfg.Seed, TieBreak: decide.TieBreak(cfg.TieBreak),
			PercentageOfNodesToScore: cfg.PercentageOfNodesToScore,
		},
		Profiles: profiles, Record: r.rec, Answers: &decide.Answers{},
	}
	var clock func() time.Duration
	if r.meter = meter; meter != nil {
		r.decider.Meter, clock = decisionMeter{meter}, meter.Clock
	}
	r.room = preempt.NewBook(r.rec, roomPort{r}, clock)
	r.decider.Answers.Under(context.Background())
	if r.queue, err = queue.New(r.queueConfig()); err != nil {
		return nil, err
	}
	r.wake = wake.New(r.queue, r.rec, cfg.ReferenceWakeUps, r.offering)
	return r, nil
}

// queueConfig completes the queue's configuration with what the profiles say.
func (r *Raw) queueConfig() queue.Config {
	q := r.cfg.Queue
	q.Less = r.decider.Profiles.First().Less(func(err error) { r.listener.Failed(FailedEvent{Err: err}) })
	q.PreEnqueue = map[string][]extpoints.PreEnqueuePlugin{}
	q.Hints = map[string][]queue.PluginHints{}
	q.AsGroups = map[string]bool{}
	q.Groups = func() queue.Groups { return r.rec.View.Groups() }
	q.ReferenceWakeUps = r.cfg.ReferenceWakeUps
	for name, f := range r.decider.Profiles.ByName() {
		q.PreEnqueue[name] = f.PreEnqueue()
		q.Hints[name] = f.Hints()
		if f.SchedulesGroups() {
			q.AsGroups[name] = true
		}
	}
	// The empty name is the first profile.
	q.PreEnqueue[""] = q.PreEnqueue[r.cfg.Profiles[0].Name]
	q.Hints[""] = q.Hints[r.cfg.Profiles[0].Name]
	if q.AsGroups[r.cfg.Profiles[0].Name] {
		q.AsGroups[""] = true
	}
	q.OnMove = func(m queue.Move) {
		switch m.To {
		case queue.Gated:
			r.listener.Gated(QueuedEvent{m})
		case queue.Active, queue.Backoff, queue.ErrorBackoff, queue.Unschedulable:
			r.listener.Enqueued(QueuedEvent{m})
		}
		// The rest has events of its own: Popped, Bound, Removed.
	}
	q.OnGateError = func(id, plugin string, err error) {
		r.listener.Failed(FailedEvent{Workload: id, Err: &PluginError{Point: "PreEnqueue", Plugin: plugin, Err: err}})
	}
	q.OnHintError = func(id, plugin string, err error) {
		r.listener.Failed(FailedEvent{Workload: id, Err: &PluginError{Point: "QueueingHint", Plugin: plugin, Err: err}})
	}
	return q
}

// Schedule takes the next workload out of the queue and runs its scheduling
// cycle. It reports whether there was one. A workload that got a node has a
// task afterwards, at once or when it has been permitted; see NextTask. While
// evictions are under way that a plugin wants to await (see
// [extpoints.CycleState.AwaitEvictions]) there is none.
func (r *Raw) Schedule(now time.Time) bool {
	defer r.settle(now)
	if r.room.Awaited() {
		return false
	}
	item, ok := r.queue.Pop(now)
	if ok {
		// Afterwards, because what extenders answer is part of the input.
		defer func() { r.recorder.schedule(now, r.decider.Answers.Take()) }()
	}
	for ; ok; item, ok = r.queue.Pop(now) {
		if item.Group != nil {
			r.attemptGroup(now, item)
			return true
		}
		row := r.rec.Workload(item.ID())
		if row == nil || row.Phase != model.Pending {
			r.queue.Done(item.ID()) // gone, or placed by somebody else
			continue
		}
		r.attemptWorkload(now, item, row)
		return true
	}
	return false
}

// Tick does what is due at the time: it ends backoffs, wakes workloads that
// waited too long, and rejects those whose Permit has timed out. Call it when
// the time of NextDue has come; calling it more often does no harm.
func (r *Raw) Tick(now time.Time) {
	defer r.settle(now)
	if due, ok := r.NextDue(now); !ok || due.After(now) {
		return
	}
	r.recorder.tick(now)
	r.expire(now)
	r.queue.Tick(now)
}

// NextDue returns the time at which Tick will next have something to do.
func (r *Raw) NextDue(now time.Time) (time.Time, bool) {
	due, ok := r.queue.NextDue(now)
	if permit, waits := r.permits.NextDue(); waits && (!ok || permit.Before(due)) {
		return permit, true
	}
	return due, ok
}

// NextTask hands out the next task, evictions first; nil where there is none
// now.
func (r *Raw) NextTask() *Task {
	return asTask(r.nextTask())
}

func (r *Raw) nextTask() *tasks.Task {
	if t := r.tasks.NextEviction(true); t != nil {
		return t
	}
	return r.tasks.NextBinding(true)
}

// Settle carries out what plugins have asked for from other goroutines since
// the last call: allow, reject, activate. Apply, Schedule, Tick, Finish and Evict
// do so too when they end.
func (r *Raw) Settle(now time.Time) {
	r.settle(now)
}

// settle goes on with what the input has set in motion, and carries out the
// commands that have come in. What plugins ask for meanwhile waits for the next
// call, so that a plugin that always asks again cannot hold the engine up.
func (r *Raw) settle(now time.Time) {
	r.room.Proceed(now)
	list := r.commands.Take()
	if len(list) == 0 {
		return
	}
	r.recorder.commands(now, list)
	r.obeyAll(now, list)
}

func (r *Raw) obeyAll(now time.Time, list []tasks.Command) {
	for _, cmd := range list {
		r.obey(now, cmd)
	}
	r.room.Proceed(now)
}

// CallOff ends what has a node but is not being bound yet: workloads that wait
// on Permit, and bindings whose tasks nobody has taken. They wait in the queue
// again, with the cause as their failure. It is for an engine that stops and
// leaves its record to be read, or to be taken up again.
func (r *Raw) CallOff(now time.Time, cause error) {
	if cause == nil {
		cause = ErrStopped
	}
	r.callOff(now, cause, r.nextTask)
}

// callOff calls off the tasks that next hands out: in a replay those that were
// taken at the time are still there, and must be left alone.
func (r *Raw) callOff(now time.Time, cause error, next func() *tasks.Task) {
	for _, w := range r.permits.Sorted() {
		r.rejectWaiting(now, w.Task.Member.Info.ID, extpoints.AsStatus(cause))
	}
	var numbers []uint64
	for t := next(); t != nil; t = next() {
		numbers = append(numbers, t.Number)
		t.Settle(cause)
		r.finish(now, t)
		r.room.Proceed(now)
	}
	r.recorder.callOff(now, cause, numbers)
}

func (r *Raw) obey(now time.Time, cmd tasks.Command) {
	switch {
	case len(cmd.Activate) == 0 && !r.permits.Is(cmd.Allow+cmd.Reject, cmd.Task):
		// It no longer waits, or waits with another node by now.
	case cmd.Allow != "":
		r.allow(now, cmd.Allow, cmd.Plugin)
	case cmd.Reject != "":
		r.rejectWaiting(now, cmd.Reject, extpoints.NewStatus(extpoints.Unschedulable, cmd.Reason).WithPlugin(cmd.Plugin))
	default:
		r.activate(now, cmd.Activate)
	}
}

func (r *Raw) activate(now time.Time, ids []string) {
	if len(ids) > 0 {
		r.queue.Activate(now, ids...)
	}
}

// activateAsked carries out what plugins have asked of the cycle's state since
// it was last called for the cycle.
func (r *Raw) activateAsked(c *tasks.Member) {
	r.activate(c.Now, c.TakeActivated())
}

// View returns the facts as they are now. It may be read by any goroutine and
// does not change.
func (r *Raw) View() *View { return &View{store: r.rec.Store.Snapshot(), live: r.rec.Store} }

// Queue says where a workload is in the queue and why; false where it is not
// in the queue.
func (r *Raw) Queue(id string) (queue.Position, bool) { return r.queue.Position(id) }

// QueueCounts says how many workloads are in each part of the queue.
func (r *Raw) QueueCounts() queue.Counts { return r.queue.Counts() }
