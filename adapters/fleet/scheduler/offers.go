package scheduler

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
)

// tracked is what the controller knows of a job that has not ended.
type tracked struct {
	// counts are the job's when it was last looked at, held how many of its elements
	// were held.
	counts state.Counts
	held   int32
	// claim is how many tasks of its share it runs, or has offered.
	claim int32
	// offers are the elements that the engine has, or some tasks of.
	offers map[int32]*offer
	// again are the elements before the cursor that may be offered, and are not, for
	// want of room.
	again map[int32]bool
	// cursor is the last element that was looked at as it was submitted. Those before it
	// that had to wait for others come into again when they need not any more.
	cursor int32
	// needs are the jobs that it depends on.
	needs []job.ID
	share share
	tasks int32 // of an element
	// never are elements that wait in vain and are to be cancelled; neverAll: there may
	// be more. See neverDue.
	never    map[int32]bool
	neverAll bool
}

// offer is an attempt that the engine is to place.
type offer struct {
	attempt int32
	ranks   map[int32]bool // those that the engine has
	avoids  time.Time      // until when it is kept from nodes, zero: from none
	queue   *state.Queue   // as it was then
}

// jobChanged brings the offers of a job up to date, and wakes those who wait for it.
func (c *Controller) jobChanged(v state.View, id job.ID) {
	j := v.Job(id)
	t := c.jobs[id]
	if j == nil || j.Done() {
		if t != nil {
			c.untrack(v, id, t)
		}
		c.noteSame(v, id)
		c.wake(v, id, j)
		return
	}
	if t == nil {
		t = c.track(j)
	}
	wakes := t.counts != j.Counts
	if j.HeldElements != t.held || cancelledOf(j.Counts) != cancelledOf(t.counts) {
		c.recheck(v, j, t)
		c.noteSame(v, id)
	}
	t.counts, t.held = j.Counts, j.HeldElements
	c.renew(v, j, t)
	c.fill(v, j, t)
	if wakes {
		c.wake(v, id, j)
	}
}

// renew takes the offers back that would be others by now, as the queue has changed, to be made again.
func (c *Controller) renew(v state.View, j *state.Job, t *tracked) {
	q := queueOf(v, j)
	for _, index := range slices.Sorted(maps.Keys(t.offers)) {
		if s, _ := v.StateOf(j, index); s == job.Pending && !offersSame(t.offers[index].queue, q) {
			c.withdraw(v, state.ElementID{Job: j.ID, Index: index}, t)
			t.again[index] = true
		}
	}
}

// offersSame reports whether the queue, before and after a change, makes the same of its jobs.
func offersSame(a, b *state.Queue) bool {
	return a == b || a.Priority == b.Priority && preemption(a) == preemption(b) && reflect.DeepEqual(a.Nodes, b.Nodes)
}

// cancelledOf counts the elements that have ended by request, as many that wait may
// do at once, without rows of their own.
func cancelledOf(counts state.Counts) int32 {
	return counts.Of(job.Cancelled) + counts.Of(job.Deadline)
}

// recheck takes back the offers of elements that do not wait any more, or are held,
// and has those looked at again that were passed over.
func (c *Controller) recheck(v state.View, j *state.Job, t *tracked) {
	for _, index := range slices.Sorted(maps.Keys(t.offers)) {
		if s, isHeld := v.StateOf(j, index); s != job.Starting && (s != job.Pending || isHeld) {
			c.withdraw(v, state.ElementID{Job: j.ID, Index: index}, t)
		}
	}
	t.cursor = -1
}

// track begins to look after a job.
func (c *Controller) track(j *state.Job) *tracked {
	t := &tracked{
		offers: map[int32]*offer{}, again: map[int32]bool{}, cursor: -1, share: share{j.Owner, j.Spec.Queue},
		tasks: j.Spec.Tasks, never: map[int32]bool{}, neverAll: true,
	}
	for i := range j.Spec.After {
		if need, ok := j.Spec.After[i].ID(); ok {
			t.needs = append(t.needs, need)
			if c.dependents[need] == nil {
				c.dependents[need] = map[job.ID]bool{}
			}
			c.dependents[need][j.ID] = true
		}
	}
	if !j.Spec.Deadline.IsZero() {
		c.timers.set(j.Spec.Deadline, jobDue(dueDeadline, j.ID))
	}
	c.jobs[j.ID] = t
	if j.Spec.KillOnInvalidDep {
		c.noteNever(j.ID)
	}
	return t
}

// untrack ends to look after a job.
func (c *Controller) untrack(v state.View, id job.ID, t *tracked) {
	c.withdrawAll(v, id, t)
	for _, need := range t.needs {
		delete(c.dependents[need], id)
		if len(c.dependents[need]) == 0 {
			delete(c.dependents, need)
		}
	}
	c.loads.claim(t, 0)
	delete(c.jobs, id)
}

// wake looks again at the jobs that wait for one.
func (c *Controller) wake(v state.View, id job.ID, j *state.Job) {
	for _, d := range slices.Sorted(maps.Keys(c.dependents[id])) {
		c.refill(v, d)
	}
	if j == nil || !j.Done() {
		return
	}
	if next := v.OldestNamed(j.Owner, j.Spec.Name); next != nil && next.Spec.Singleton {
		c.refill(v, next.ID) // the others wait for it
	}
}

// refill looks again at what a job may offer.
func (c *Controller) refill(v state.View, id job.ID) {
	if j, t := v.Job(id), c.jobs[id]; j != nil && t != nil {
		c.fill(v, j, t)
	}
}

// wakeSame lets those elements be offered that wait for this one, which has ended.
func (c *Controller) wakeSame(v state.View, id state.ElementID) {
	for d := range c.dependents[id.Job] {
		j, t := v.Job(d), c.jobs[d]
		if j != nil && t != nil && waitsForSame(j, id.Job) && j.HasElement(id.Index) {
			t.again[id.Index] = true
			c.noteElement(j, t, id.Index)
		}
	}
}

// waitsForSame reports whether elements of the job wait for those of the other.
func waitsForSame(j *state.Job, other job.ID) bool {
	return slices.ContainsFunc(j.Spec.After, func(d job.Dependency) bool {
		id, ok := d.ID()
		return ok && id == other && d.Kind == job.AfterCorr
	})
}

// fill offers as many elements of a job as may be, or takes all back where none may.
func (c *Controller) fill(v state.View, j *state.Job, t *tracked) {
	now := time.Now()
	if j.Spec.KillOnInvalidDep && v.Impossible(j) != "" {
		c.noteNever(j.ID)
	}
	if w := v.Waits(j, now); !w.None() {
		c.withdrawAll(v, j.ID, t)
		c.loads.claim(t, j.Active()*t.tasks)
		if !w.Until.IsZero() {
			c.timers.set(w.Until, jobDue(dueJob, j.ID))
		}
		return
	}
	if r := v.Reservation(j.Spec.Reservation); r != nil {
		if now, ok := r.Next(now); ok {
			c.timers.set(now.To, jobDue(dueJob, j.ID)) // then it waits for the next
		}
	}
	c.loads.claim(t, (j.Active()+int32(len(t.offers)))*t.tasks)
	for room := c.room(v, j, t); room > 0; room-- {
		index, ok := c.next(v, j, t, now)
		if !ok {
			return
		}
		c.offer(v, j, t, index)
		c.loads.claim(t, t.claim+t.tasks)
	}
}

// room is how many more elements of the job may be offered.
func (c *Controller) room(v state.View, j *state.Job, t *tracked) int {
	window := max(1, c.cfg.Window/int(t.tasks))
	if c.waiting >= c.cfg.Crowd {
		window = 1
	}
	room := window - len(t.offers)
	if limit := j.Spec.Array.Limit; limit > 0 {
		room = min(room, int(limit-j.Active())-len(t.offers))
	}
	if most := queueOf(v, j).MaxRunning; most > 0 {
		left := int((most - c.loads.of(t.share).tasks) / t.tasks)
		if left < room {
			c.loads.of(t.share).limited[j.ID] = true
		}
		room = min(room, left)
	}
	return room
}

// next is the next element to offer.
func (c *Controller) next(v state.View, j *state.Job, t *tracked, now time.Time) (int32, bool) {
	for index := range t.again { // in any order: the engine has its own
		delete(t.again, index)
		if c.mayOffer(v, j, t, index, now) {
			return index, true
		}
	}
	for {
		index, ok := v.NextWaiting(j, t.cursor)
		if !ok {
			return 0, false
		}
		t.cursor = index
		if c.mayOffer(v, j, t, index, now) {
			return index, true
		}
	}
}

// mayOffer reports whether an element waits for nothing but to be offered.
func (c *Controller) mayOffer(v state.View, j *state.Job, t *tracked, index int32, now time.Time) bool {
	s, _ := v.StateOf(j, index)
	w := v.ElementWaits(j, index, now)
	return s == job.Pending && w.None() && t.offers[index] == nil
}

// offer gives the engine the tasks of an element's next attempt, or those of the
// attempt under way that have no node yet.
func (c *Controller) offer(v state.View, j *state.Job, t *tracked, index int32) {
	o := &offer{attempt: v.NextAttempt(j.ID, index), ranks: map[int32]bool{}}
	var nodes []string
	if e := v.Element(j.ID, index); e != nil && e.State != job.Pending {
		nodes = e.Nodes
	}
	q := queueOf(v, j)
	o.queue = q
	avoid, until := c.avoided(v, j, q, index)
	if o.avoids = until; !until.IsZero() {
		c.timers.set(until, due{kind: dueElement, element: state.ElementID{Job: j.ID, Index: index}})
	}
	for rank := range j.Spec.Tasks {
		if nodes != nil && nodes[rank] != "" {
			continue
		}
		id := job.TaskID{Job: j.ID, Element: index, Attempt: o.attempt, Rank: rank}
		c.joinGroup(j, q, id)
		c.change(engine.Submit(c.workload(v, j, q, id, avoid)))
		c.note(id.String(), offered)
		o.ranks[rank] = true
	}
	t.offers[index] = o
}

// elementChanged brings the offer of an element up to date. What it cannot offer for
// want of room it leaves to the job.
func (c *Controller) elementChanged(v state.View, id state.ElementID) {
	j := v.Job(id.Job)
	if j == nil || j.Done() {
		c.wakeSame(v, id)
		return
	}
	t := c.jobs[id.Job]
	if t == nil {
		t = c.track(j)
	}
	delete(t.again, id.Index)
	e := v.Element(id.Job, id.Index)
	o := t.offers[id.Index]
	switch {
	case e == nil:
		c.withdraw(v, id, t)
		c.wakeSame(v, id)
	case e.State == job.Pending:
		if o != nil && o.stands(v.NextAttempt(id.Job, id.Index), e.Held) {
			return
		}
		c.withdraw(v, id, t)
		if w := v.ElementWaits(j, id.Index, time.Now()); w.None() {
			t.again[id.Index] = true
		} else if !w.Until.IsZero() {
			c.timers.set(w.Until, due{kind: dueElement, element: id})
		}
	case e.State == job.Starting && e.Placed < j.Spec.Tasks:
		c.timers.set(time.Now().Add(c.cfg.Times.Gang), due{kind: dueGang, element: id, attempt: e.Attempt})
		if o == nil || o.attempt != e.Attempt {
			c.withdraw(v, id, t)
			c.offer(v, j, t, id.Index)
		}
	default:
		c.withdraw(v, id, t)
	}
}

// withdraw takes an offer back, as far as its tasks have no nodes. The state may have given
// one a node of which this controller has not been told yet: the engine is told of it now,
// for without the task it would take the node's room for free.
func (c *Controller) withdraw(v state.View, id state.ElementID, t *tracked) {
	o := t.offers[id.Index]
	if o == nil {
		return
	}
	for rank := range o.ranks {
		task := job.TaskID{Job: id.Job, Element: id.Index, Attempt: o.attempt, Rank: rank}
		switch {
		case c.known[task.String()] != offered:
		case v.Task(task) != nil:
			c.taskChanged(v, task)
		default:
			c.forget(task)
		}
	}
	delete(t.offers, id.Index)
}

// withdrawAll takes all offers of a job back.
func (c *Controller) withdrawAll(v state.View, id job.ID, t *tracked) {
	for _, index := range slices.Sorted(maps.Keys(t.offers)) {
		c.withdraw(v, state.ElementID{Job: id, Index: index}, t)
	}
	t.cursor = -1
}
