package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
// its work before it returns, and time is an argument. It must not be zero, go
// backwards or be beyond what a recording can keep: Apply, Evict and StartRecording return
// ErrTime then, the others that change something panic with it. What must be done outside
// (binding, evicting) is handed out as [Task]s. Given the same calls it makes the same decisions and raises the same
// events, for any number of workers; see [Recorder] and [Replay].
//
// It is for tests, simulations and programs with a loop of their own; others
// use [Engine]. The methods may not be called by two goroutines at the same
// time. Only what the comments of [Task.Run], [extpoints.WaitingWorkload] and
// [extpoints.Handle] say may happen beside them. Listeners and plugins that the engine
// calls may read (View, Queue, QueueCounts, Branch). The methods that change it are
// refused there: Apply and Evict return ErrCalledBack, the others panic with it.
type Raw struct {
	calls
	// forgotten is the number of the last task that was made before the log of a replay
	// begins: evictions that nobody needed any more, whose end changes nothing.
	forgotten uint64

	*core
	work scheduling
}

// NewRaw makes an engine without goroutines. The error lists every problem of
// the configuration, of its profiles and of its recorder.
func NewRaw(cfg Config) (*Raw, error) {
	r, err := newRaw(cfg)
	if err != nil {
		return nil, err
	}
	for i := range cfg.Profiles {
		r.decider.Profiles.ByName()[cfg.Profiles[i].Name].Made()
	}
	r.record(time.Time{}, cfg.Recorder, nil)
	return r, nil
}

// newRaw makes the engine and tells nobody of its plugins.
func newRaw(cfg Config) (*Raw, error) {
	cfg = cfg.WithDefaults()
	r := &Raw{core: &core{
		listener: tee(cfg.Logger, []Listener{logListener(cfg.Logger), cfg.Listener}),
		tasks:    tasks.NewBook(cfg.Orchestrator),
		heldBack: map[string]bool{},
		leaving:  map[string]time.Time{},
		lastWhy:  map[string]Rejection{},
		rooms:    rooms{},
		memory:   decide.Memory{Limit: cfg.RememberDecisions},
		cfg:      &cfg, rec: record.New(cfg.Compat), handed: record.Handed{}, forecasts: newForecasts(cfg.Forecast),
	}}
	r.calls = calls{log: cfg.Logger, failed: r.listener.Failed}
	r.work = scheduling{outside{facts{r.core}}}
	r.permits = tasks.NewPermits(&r.commands)
	env := framework.Env{
		Logger:       cfg.Logger,
		Compat:       cfg.Compat,
		Orchestrator: cfg.Orchestrator,
		Waiting:      r.permits,
		Activate:     func(ids ...string) { r.commands.Add(tasks.Command{Activate: ids}) },
		UnderWay:     func(id string) bool { return r.room.UnderWay(id) },
		InVain:       func(id string, now time.Time) bool { return r.rooms.inVain(id, now) },
		View:         func() extpoints.ClusterView { return r.rec.View },
		Extenders:    framework.NewExtenders(cfg.Extenders),
	}
	env.Preempters = decide.Preempters(env.Extenders)
	meter := meterOf(r.cfg, &r.listener)
	env.Meter = meter
	profiles, err := decide.NewProfiles(cfg.Profiles, env)
	if err := errors.Join(cfg.Validate(), err, cfg.Recorder.free()); err != nil {
		return nil, err
	}
	r.decider = &decide.Decider{
		Options: decide.Options{
			Workers: cfg.Workers, Seed: cfg.Seed, TieBreak: decide.TieBreak(cfg.TieBreak),
			PercentageOfNodesToScore: cfg.PercentageOfNodesToScore, FastPath: decide.FastPath(cfg.FastPath),
		},
		Profiles: profiles, Record: r.rec, Answers: &decide.Answers{}, Meter: meter,
	}
	if cfg.Order == OrderByQueues {
		r.decider.Queues = liveQueues{r.core}
		r.decider.QueuesOf = func(rec *record.Record) framework.Queues { return &forkedQueues{rec: rec} }
	}
	r.answers = r.decider.Answers
	r.room = preempt.NewBook(r.rec, roomPort{r.work.outside}, meter)
	r.decider.Answers.Under(context.Background())
	if r.queue, err = queue.New(cfg.Queue, cfg.Compat, r.queueHooks()); err != nil {
		return nil, err
	}
	r.wake = wake.New(r.queue, r.rec, cfg.Compat, meter)
	r.newPlan()
	return r, cfg.Recorder.take(r.listener.Failed)
}

// queueHooks are what the profiles say to the queue, and what it tells the listener.
func (r *Raw) queueHooks() queue.Hooks {
	var q queue.Hooks
	q.Less = r.decider.Profiles.First().Less(func(err error) { r.listener.Failed(FailedEvent{Err: err}) })
	q.ByQueues = r.cfg.Order == OrderByQueues
	q.Profiles = map[string]bool{"": true}
	q.PreEnqueue = map[string][]extpoints.PreEnqueuePlugin{}
	q.Hints = map[string][]queue.PluginHints{}
	q.AsGroups = map[string]bool{}
	q.Groups = func() queue.GroupTrees { return r.rec.View.Groups() }
	for name, f := range r.decider.Profiles.ByName() {
		q.Profiles[name] = true
		q.PreEnqueue[name] = r.decider.Answers.Gates(f.PreEnqueue())
		q.Hints[name] = append(slices.Clip(f.Hints()), changedItself)
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
	q.KeepPlace = r.cfg.Backfill.Mode != NoPlan
	if !q.KeepPlace { // a plan does not foresee it: decision 0098
		q.Hopeless = func(members []*extpoints.WorkloadInfo) bool { return hopeless(r.decider, r.now, members) }
	}
	q.OnMove = func(m queue.Move) {
		if r.plan != nil {
			r.moved(m)
		}
		switch m.To {
		case queue.Gated:
			r.listener.Gated(QueuedEvent{m})
		case queue.Active, queue.Backoff, queue.ErrorBackoff, queue.Unschedulable:
			r.listener.Enqueued(QueuedEvent{m})
		}
		// The rest has events of its own: Popped, Bound, Removed.
	}
	q.OnLimit = func(l *model.Limit, principal string) {
		r.listener.LimitReached(LimitReachedEvent{At: r.now, Limit: l, Principal: principal})
	}
	q.OnGateError = func(id, plugin string, err error) {
		r.listener.Failed(FailedEvent{Workload: id, Err: &extpoints.PluginError{Point: "PreEnqueue", Plugin: plugin, Workload: id, Err: err}})
	}
	q.OnHintError = func(id, plugin string, err error) {
		r.listener.Failed(FailedEvent{Workload: id, Err: &extpoints.PluginError{Point: "QueueingHint", Plugin: plugin, Workload: id, Err: err}})
	}
	return q
}

// Schedule takes the next workload out of the queue and runs its scheduling
// cycle. It reports whether there was one. A workload that got a node has a
// task afterwards, at once or when it has been permitted; see NextTask. While
// evictions are under way that a plugin wants to await (see
// [extpoints.CycleState.AwaitEvictions]) there is none.
func (r *Raw) Schedule(now time.Time) (tried bool) {
	r.must("Schedule", now, func() { tried = r.schedule(now) })
	return tried
}

func (r *Raw) schedule(now time.Time) bool {
	if r.room.Awaited() {
		r.settle(now, input{})
		return false
	}
	var in input
	plans, looks := r.plan.Made(), r.queue.Looks()
	item, ok := r.work.pop(now)
	if ok || r.plan.Made() != plans || r.queue.Looks() != looks {
		in = input{At: now, Schedule: true}
	}
	for ok && !r.work.attempt(now, item) {
		item, ok = r.work.pop(now)
	}
	r.settle(now, in)
	return ok
}

// Tick does what is due at the time: it ends backoffs, wakes workloads that
// waited too long, those that a hold kept which begins or ends, and those that kept away from
// a node that could not start them, rejects those whose
// Permit has timed out, and tells of limits that are reached. Call it when
// the time of NextDue has come; calling it more often does no harm.
func (r *Raw) Tick(now time.Time) {
	r.must("Tick", now, func() { r.tick(now) })
}

func (r *Raw) tick(now time.Time) {
	var in input
	if due, ok := r.NextDue(now); ok && !due.After(now) {
		in = input{At: now, Tick: true}
		r.work.expire(now)
		r.work.tellHolds(now)
		r.work.retry(now)
		r.queue.Tick(now)
		r.work.replan(now)
	}
	r.settle(now, in)
}

// NextDue returns the time at which Tick will next have something to do, not before
// now; false if there is nothing to wait for, or not within the times that Tick takes.
func (r *Raw) NextDue(now time.Time) (time.Time, bool) {
	due, ok := r.queue.NextDue(now)
	if permit, waits := r.permits.NextDue(); waits && (!ok || permit.Before(due)) {
		due, ok = permit, true
	}
	if again, waits := r.plan.NextDue(); waits && (!ok || again.Before(due)) {
		due, ok = again, true
	}
	if !r.nextHold.IsZero() && (!ok || r.nextHold.Before(due)) {
		due, ok = r.nextHold, true
	}
	if retry, waits := r.rec.View.FailedStarts().Due(); waits && (!ok || retry.Before(due)) {
		due, ok = retry, true
	}
	if ok && due.Before(now) {
		due = now
	}
	if !ok || record.CheckTime(due) != nil {
		return time.Time{}, false
	}
	return due, true
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
	r.must("Settle", now, func() { r.settle(now, input{}) })
}

// settle goes on with what the input has set in motion, notes it, and carries out the
// commands that have come in. What plugins ask for meanwhile waits for the next
// call, so that a plugin that always asks again cannot hold the engine up.
func (r *Raw) settle(now time.Time, in input) {
	r.room.Proceed(now)
	r.note(in)
	if list := r.commands.Take(); len(list) > 0 {
		r.executeAll(now, list)
	}
}

func (r *Raw) executeAll(now time.Time, list []tasks.Command) {
	for _, cmd := range list {
		r.work.execute(now, cmd)
	}
	r.room.Proceed(now)
	r.note(input{At: now, Commands: list})
}

// CallOff ends what has a node but is not being bound yet: workloads that wait
// on Permit, and bindings whose tasks nobody has taken. They wait in the queue
// again, with the cause as their failure. It is for an engine that stops and
// leaves its record to be read, or to be taken up again.
func (r *Raw) CallOff(now time.Time, cause error) {
	if cause == nil {
		cause = ErrStopped
	}
	cause = framework.ValidError(cause)
	r.must("CallOff", now, func() { r.callOff(now, cause, r.nextTask) })
}

// callOff calls off the tasks that next hands out: in a replay those that were
// taken at the time are still there, and must be left alone.
func (r *Raw) callOff(now time.Time, cause error, next func() *tasks.Task) {
	for _, w := range r.permits.Sorted() {
		r.work.rejectWaiting(now, w.Task.Member.Info.ID, extpoints.AsStatus(cause))
	}
	var numbers []uint64
	for t := next(); t != nil; t = next() {
		numbers = append(numbers, t.Number)
		t.CallOff(cause)
		r.work.finish(now, t)
		r.room.Proceed(now)
	}
	r.note(input{At: now, CallOff: &callOffInput{cause.Error(), numbers}})
}

// View returns the facts as they are now. It may be read by any goroutine and
// does not change.
func (r *Raw) View() *View { return &View{store: r.rec.Store.Snapshot(), live: r.rec.Store} }

// Finish takes a task back and records its outcome. A task that has not run
// counts as failed; one that was given back before is ignored, and so is nil.
func (r *Raw) Finish(now time.Time, t *Task) {
	r.must("Finish", now, func() {
		if t != nil {
			r.finish(now, t.task)
		}
	})
}

func (r *Raw) finish(now time.Time, t *tasks.Task) {
	if !t.Finish() {
		return
	}
	in := finishOf(now, t)
	r.work.finish(now, t)
	r.settle(now, in)
}

// Evict asks the orchestrator, through a task, to make a workload leave its
// node. It is an error if the workload is on none, or the reason is no text (valid UTF-8
// without NUL). While that is being asked of the
// orchestrator it is not asked twice; of a workload that is terminating it is asked again,
// because the orchestrator may have accepted an earlier eviction and forgotten it.
func (r *Raw) Evict(now time.Time, id, reason string) error {
	return r.act("Evict", now, func() error {
		row := r.rec.Workload(id)
		if row == nil {
			return fmt.Errorf("evict workload %q: %w", id, ErrNotFound)
		}
		if row.TakesRoomOn() == "" {
			return fmt.Errorf("evict workload %q: it is on no node", id)
		}
		if err := record.CheckText("eviction of workload", id, "reason", reason); err != nil {
			return err
		}
		r.work.askToLeave(now, row, reason, preempt.Nobody)
		r.settle(now, input{At: now, Evict: &evictInput{id, reason}})
		return nil
	})
}

// Queue says where a workload waits and why: in the queue, on Permit, for its binding,
// or for one that is no longer wanted and has not returned. False where it waits for
// nothing of this, because it is on a node, has ended or is not known.
func (r *Raw) Queue(id string) (queue.Position, bool) {
	p, queued := r.queue.Position(id)
	t := r.tasks.Of(id)
	switch {
	case t == nil:
		return p, queued
	case r.heldBack[id]:
		return queue.Position{ID: id, Place: queue.OldBinding, Node: t.Node(), Since: t.Since}, true
	case t.Permitted && !t.Abandoned():
		return queue.Position{ID: id, Place: queue.Binding, Node: t.Node(), Since: t.Since, Until: t.Deadline()}, true
	}
	if w := r.permits.Of(id); w != nil {
		p.Place, p.Node, p.Since, p.Until, p.Permit = queue.Permit, w.Node(), w.Since, w.First().At, w.PendingPlugins()
	}
	return p, queued
}

// Queues lists the queues as they are charged and what waits in them, by name, and after each
// that goes by usage the principals of which it remembers anything; then what is used of limits.
// None where the order is not by queues. What they have used is as of the last call that had a time.
func (r *Raw) Queues() []queue.Level { return r.queue.Levels(r.now) }

// QueueCounts says how many workloads are in each place; see [Raw.Queue].
func (r *Raw) QueueCounts() queue.Counts {
	c := r.queue.Counts()
	c.Permit, c.Binding, c.OldBinding = r.permits.Len(), r.tasks.Binding(), len(r.heldBack)
	c.InFlight -= c.Permit
	return c
}

// Promise returns what the workload that waits, or the tree of the highest group with the
// ID, was promised when it was last planned, which the last Schedule or Tick did. False
// where nothing is planned, and for what waits behind those that have reservations and never had
// one, unless it is known that a quota or a limit holds it back.
func (r *Raw) Promise(id string) (Promise, bool) {
	if r.plan == nil {
		return Promise{}, false
	}
	root := r.rootOf(id)
	p, ok := r.plan.Promise(root)
	if held := r.queue.Held(root); held != nil && p.Current.IsZero() {
		p.Held, ok = held, true
	}
	return promiseOf(&p), ok
}

// rootOf is the ID of what the workload with the ID waits as: of its tree where it is a
// member of one, else its own.
func (r *Raw) rootOf(id string) string {
	if p, ok := r.queue.Position(id); ok && p.Group != "" {
		return p.Group
	}
	return id
}

// Waiting lists those that are to be tried, or wait for an event, in the order in which they
// go: the IDs of workloads by themselves and of highest groups. What is gated is not among
// them.
func (r *Raw) Waiting() []string {
	var ids []string
	for _, it := range r.queue.InOrder() {
		ids = append(ids, it.ID())
	}
	return ids
}

// record begins the log of the recorder, which the engine has taken, with the header and
// the state that the engine is in; nil: a new one's.
func (r *Raw) record(now time.Time, rec *Recorder, state json.RawMessage) {
	if rec == nil {
		return
	}
	h := headerOf(r.cfg, r.decider.Profiles)
	if h.State = state; state != nil {
		h.Sum = sumOf(state)
	}
	rec.write(now, firstLine{h})
	r.noted = func(in input) { rec.write(in.At, in) }
}
