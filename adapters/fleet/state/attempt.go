package state

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// report records what an agent says of its tasks. What is not under way any more,
// or not on that node, was heard before, or given up.
func (t *tx) report(c *Report) Result {
	t.secondOpinion = c.SecondOpinion
	r := Result{}
	for i := range c.Tasks {
		said := &c.Tasks[i]
		k := t.Task(said.Task)
		if k == nil || k.Node != c.Node || !k.Ready || !known(said.State) {
			continue
		}
		j, e := t.Job(said.Task.Job), *t.Element(said.Task.Job, said.Task.Element)
		switch {
		case said.State.Ended():
			t.endTask(j, &e, k, said)
		case k.State == job.Starting:
			t.began(j, &e, k, said.At)
		default:
			continue
		}
		r.Elements++
	}
	return r
}

// known reports whether an attempt can be in the state, or end in it.
func known(s job.State) bool {
	_, ok := codeOf[s]
	return ok || s == job.Requeued
}

// began records that a task runs.
func (t *tx) began(j *Job, e *Element, k *Task, at time.Time) {
	next := *k
	next.State = job.Running
	next.Started = at
	t.putTask(&next)
	t.hasStarted(k.Node)
	t.countBegan(j, e, at)
	t.putElement(e)
}

// countBegan counts one more task that runs, or has run.
func (t *tx) countBegan(j *Job, e *Element, at time.Time) {
	if e.Started.IsZero() {
		e.Started = at
	}
	if e.Began++; e.Began == j.Spec.Tasks && e.State == job.Starting {
		t.setState(j, e, job.Running)
		t.hasRun(j.ID)
		t.ranElsewhere(e)
		t.emitElement(api.EventRunning, j, e, Outcome{State: e.State})
	}
}

// endTask records that a task has ended, and with the last one the attempt.
func (t *tx) endTask(j *Job, e *Element, k *Task, said *api.Report) {
	switch {
	case k.State == job.Starting && !said.Started.IsZero():
		t.hasStarted(k.Node)
		t.countBegan(j, e, said.Started)
	case said.Mistake() || said.State == job.BootFail:
		t.startFailed(k.Node, j, e)
	}
	t.dropTask(j, k)
	e.Ended++
	e.LastEnd = latest(e.LastEnd, t.endOf(e, said.At))
	e.Used.add(usedBy(j, k, said))
	if said.State == job.Completed && said.Message != "" && e.Note == "" {
		if e.Note = said.Message; j.Spec.Tasks > 1 {
			e.Note = fmt.Sprintf("task %d of the gang: %s", k.ID.Rank, said.Message)
		}
	}
	if said.State != job.Completed && e.Outcome == nil {
		e.Outcome = &Outcome{
			State: said.State, Rank: k.ID.Rank, Exit: said.Exit, Message: said.Message,
			Mistake: said.Mistake(), Unconfirmed: said.Mistake() && t.secondOpinion,
		}
		if e.Stopping != nil {
			e.Outcome.State, e.Outcome.Message, e.Outcome.Mistake = e.Stopping.State, e.Stopping.Message, false
		} else if !j.Spec.KeepGoing && e.Ended < j.Spec.Tasks {
			reason := fmt.Sprintf("task %d of the gang ended as %s", k.ID.Rank, said.State)
			t.stopTasks(j, e, api.Stop{State: job.Failed, Reason: reason})
		}
	}
	if e.Ended < j.Spec.Tasks {
		t.putElement(e)
		return
	}
	if e.Outcome == nil {
		e.Outcome = &Outcome{State: job.Completed, Rank: k.ID.Rank, Exit: said.Exit, Message: e.Note}
	}
	t.endAttempt(j, e)
}

// endOf is when a task of an attempt ended, by the node's clock: it may be reported much
// later. Where the clocks differ it is not before the attempt, and not yet to come.
func (t *tx) endOf(e *Element, at time.Time) time.Time {
	if at.IsZero() || at.After(t.now()) {
		at = t.now()
	}
	return latest(at, latest(e.Started, e.Ready))
}

// latest is the later one of two times.
func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// usedBy is what a task has used.
func usedBy(j *Job, k *Task, said *api.Report) *Total {
	start := said.Started
	if start.IsZero() {
		start = k.Started
	}
	u := &Total{
		CPUMicros:  micros(said.Usage.CPUSeconds),
		PeakMemory: said.Usage.PeakMemory,
		ReadBytes:  said.Usage.ReadBytes, WriteBytes: said.Usage.WriteBytes,
	}
	if start.IsZero() || said.At.Before(start) {
		return u
	}
	u.WallMicros = said.At.Sub(start).Microseconds()
	u.AllocMicros = times(u.WallMicros/1000, int64(j.Spec.Resources.CPU))
	for _, g := range k.GPUs {
		u.GPUMicros = plus(u.GPUMicros, times(u.WallMicros/1000, g.Share))
	}
	return u
}

// micros makes microseconds of seconds. What is too large for a number is cut here,
// for machines do not agree on what happens to it otherwise.
func micros(seconds float64) int64 {
	const most = 1 << 55 // a thousand years of a core
	if !(seconds > 0) {
		return 0
	}
	return int64(min(seconds*1e6, most))
}

// plus and times are those of numbers from 0, and stop at the largest: a node whose
// clock is wrong does not turn what was used into its opposite.
func plus[T ~int64](a, b T) T {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(a, b int64) int64 {
	if hi, lo := bits.Mul64(uint64(a), uint64(b)); hi == 0 && lo <= math.MaxInt64 {
		return int64(lo)
	}
	return math.MaxInt64
}

// stopAttempt ends an attempt under way from outside: where not all of its tasks
// have a node yet at once, else when its tasks have ended.
func (t *tx) stopAttempt(j *Job, e *Element, o Outcome, signal string) {
	if e.Placed < j.Spec.Tasks {
		t.release(j, e, o)
		return
	}
	if e.Stopping = &o; e.Outcome != nil && !e.Requeue {
		e.Outcome = &o // it was failing, and is not to be tried again
	}
	t.stopTasks(j, e, api.Stop{State: o.State, Reason: o.Message, Signal: signal})
	t.putElement(e)
}

// stopTasks orders the tasks that are left to end.
func (t *tx) stopTasks(j *Job, e *Element, s api.Stop) {
	s.Grace = job.DefaultKillGrace
	if j.Spec.KillGrace != nil {
		s.Grace = *j.Spec.KillGrace
	}
	for _, old := range slices.Collect(t.AttemptTasks(e.attemptID())) {
		k := *old
		k.Stop = &s
		t.putOrder(&k)
	}
	if e.State != job.Completing {
		t.setState(j, e, job.Completing)
		t.emitElement(api.EventStopping, j, e, Outcome{State: s.State, Message: s.Reason})
	}
}

// attemptID is that of the attempt's first task.
func (e *Element) attemptID() job.TaskID {
	return job.TaskID{Job: e.Job, Element: e.Index, Attempt: e.Attempt}
}

// release gives up an attempt of which nothing has been started.
func (t *tx) release(j *Job, e *Element, o Outcome) {
	for _, k := range slices.Collect(t.AttemptTasks(e.attemptID())) {
		t.dropTask(j, k)
	}
	e.Outcome = &o
	t.endAttempt(j, e)
}

// endAttempt decides what happens to an element whose attempt has ended: all of it
// is in its row.
func (t *tx) endAttempt(j *Job, e *Element) {
	o := *e.Outcome
	t.account(j, e)
	t.emitElement(api.EventEnded, j, e, o)
	if !t.asksElsewhere(j, e) && !e.again(j.Spec, o, t.now()) {
		t.finish(j, e, o)
		return
	}
	next := &Element{
		Job: e.Job, Index: e.Index, State: e.State, Attempt: e.Attempt, LeftOut: e.LeftOut,
		Failures: e.Failures, Losses: e.Losses, Eligible: e.Eligible, Avoid: e.Avoid, Claims: e.Claims,
	}
	t.setState(j, next, job.Pending)
	t.putElement(next)
}

// finish records that an element, whose row is there or not, has ended for good.
func (t *tx) finish(j *Job, e *Element, o Outcome) {
	t.setState(j, e, o.State)
	if !j.Spec.Array.IsZero() {
		t.setByte(j.ID, e.Index, byte(codeOf[o.State]))
	}
	t.dropElement(e)
	next := *t.Job(j.ID)
	if len(e.Nodes) > 0 {
		next.LastNodes = e.Nodes[:min(len(e.Nodes), api.MaxNodesShown)]
	}
	t.endIfDone(&next, t.endedAt(e))
	t.putJob(&next)
	t.emitElement(api.EventFinished, j, e, o)
}

// endIfDone notes when elements of the job, a copy, have ended, and whether that was the
// end of all of it.
func (t *tx) endIfDone(j *Job, at time.Time) {
	j.LastEnd = latest(j.LastEnd, latest(at, j.Started)) // that is by the leader's clock
	if j.Done() && j.Ended.IsZero() {
		j.Ended = j.LastEnd
	}
}

// endedAt is when an attempt that has ended did: now where none of its tasks ran.
func (t *tx) endedAt(e *Element) time.Time {
	if e.LastEnd.IsZero() {
		return t.now()
	}
	return e.LastEnd
}

// account writes down an attempt that has ended, also one that never was complete:
// the records say which attempts there were.
func (t *tx) account(j *Job, e *Element) {
	e.Used.Attempts = 1
	t.m.NextSeq++
	t.holdRecord(j.Owner, 1)
	records.put(t.txn, &Record{
		Seq: t.m.NextSeq, Job: j.ID, Name: j.Spec.Name, Owner: j.Owner, Queue: j.Spec.Queue, Submitted: j.Submitted,
		Tasks: j.Spec.Tasks, Requested: j.Spec.Resources, TimeLimit: j.Spec.TimeLimit,
		Element: e.Index, Attempt: e.Attempt, LeftOut: e.LeftOut, Nodes: e.Nodes,
		Placed: e.Ready, Started: e.Started, Ended: t.endedAt(e), Outcome: *e.Outcome, Used: e.Used,
	})
	next := *t.Job(j.ID)
	next.Used.add(&e.Used)
	t.putJob(&next)
	sum := total{Owner: j.Owner}
	if old := totals.get(t.txn, []byte(j.Owner)); old != nil {
		sum = *old
	}
	sum.Used.add(&e.Used)
	totals.put(t.txn, &sum)
}
