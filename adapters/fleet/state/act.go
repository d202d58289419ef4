package state

import (
	"iter"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// MaxRequeue is how many ended elements can be requeued at once: each gets a row.
const MaxRequeue = 10_000

// has reports whether the element is selected.
func (s *Select) has(index int32) bool { return s.Elements == nil || s.Elements.Contains(index) }

// selected yields the indices of the job that are selected.
func (s *Select) selected(j *Job) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		if j.Spec.Array.IsZero() {
			if s.has(0) {
				yield(0)
			}
			return
		}
		indexes := &j.Spec.Array.Indexes
		if s.Elements != nil {
			indexes = s.Elements
		}
		for i := range indexes.All() {
			if (s.Elements == nil || j.Spec.Array.Contains(i)) && !yield(i) {
				return
			}
		}
	}
}

// find returns the job that a command is about.
func (t *tx) find(s *Select) (*Job, Result) {
	if j := t.Job(s.Job); j != nil {
		return j, Result{}
	}
	return nil, refuse(api.CodeNotFound, "there is no job %d", s.Job)
}

// cancel ends elements.
func (t *tx) cancel(c *Cancel) Result {
	j, r := t.find(&c.Select)
	if r.Err != nil {
		return r
	}
	if c.State != job.Cancelled && c.State != job.Deadline {
		return refuse(api.CodeInvalid, "elements are not cancelled as %q", c.State)
	}
	o := Outcome{State: c.State, Message: c.Reason}
	for _, row := range slices.Collect(t.Elements(j.ID)) {
		if !c.has(row.Index) {
			continue
		}
		e := *row
		if e.Requeue = false; e.State == job.Pending {
			t.unhold(&e)
			t.finish(j, &e, o)
		} else {
			t.stopAttempt(j, &e, o, c.Signal)
		}
		r.Elements++
	}
	r.Elements += t.cancelWaiting(j.ID, c, o)
	if r.Elements > 0 && c.Reason != "" {
		next := *t.Job(j.ID)
		next.CancelReason = c.Reason
		t.putJob(&next)
	}
	return r
}

// cancelWaiting ends the selected elements that have no row.
func (t *tx) cancelWaiting(id job.ID, c *Cancel, o Outcome) int32 {
	next := *t.Job(id)
	var n, wereHeld int32
	if next.Spec.Array.IsZero() {
		if c.has(0) && next.Counts[pending] == 1 && t.Element(id, 0) == nil {
			n = 1
		}
	} else {
		n = t.eachByte(&next, &c.Select, func(b byte) byte {
			switch b {
			case held, heldByAdmin:
				wereHeld++
				return byte(codeOf[o.State])
			case waiting:
				return byte(codeOf[o.State])
			}
			return b
		})
	}
	if n == 0 {
		return 0
	}
	next.Counts[pending] -= n
	next.Counts[codeOf[o.State]] += n
	next.HeldElements -= wereHeld
	t.endIfDone(&next, t.now())
	t.putJob(&next)
	t.emit(api.Event{Kind: api.EventFinished, Job: id, Owner: next.Owner, State: o.State, Message: o.Message})
	return n
}

// eachByte changes the bytes of the selected elements of an array, and counts those
// that are other than before.
func (t *tx) eachByte(j *Job, s *Select, change func(byte) byte) int32 {
	var n int32
	var c *chunk // the present one, a copy
	dirty := false
	flush := func() {
		if dirty {
			chunks.put(t.txn, c)
		}
		dirty = false
	}
	for i := range s.selected(j) {
		if c == nil || c.Number != i/chunkSize {
			flush()
			c = t.copyOfChunk(j.ID, i/chunkSize)
		}
		at := i % chunkSize
		if b := change(c.Codes[at]); b != c.Codes[at] {
			c.Codes[at] = b
			dirty = true
			n++
		}
	}
	flush()
	return n
}

// copyOfChunk returns a copy that may be changed.
func (t *tx) copyOfChunk(id job.ID, number int32) *chunk {
	if c := chunks.get(t.txn, elementKey(id, number)); c != nil {
		return &chunk{Job: id, Number: number, Codes: slices.Clone(c.Codes)}
	}
	return &chunk{Job: id, Number: number, Codes: make([]byte, chunkSize)}
}

// hold holds elements, or the whole job, or releases them.
func (t *tx) hold(c *Hold) Result {
	j, r := t.find(&c.Select)
	if r.Err != nil {
		return r
	}
	if c.Release && !c.Admin && j.Held == job.ReasonHeldAdmin {
		return refuse(api.CodeForbidden, "job %d is held by an operator, who must release it", j.ID)
	}
	if !c.Release && !c.Admin && c.Elements == nil && j.Held == job.ReasonHeldAdmin {
		return r // else it would be its user's hold, which she may release
	}
	if !c.Release && c.Elements == nil && j.Counts[pending] == 0 {
		return r // the answer is that nothing is held, so a requeue starts it
	}
	kind := api.EventHeld
	reason := job.ReasonHeldUser
	switch {
	case c.Release:
		kind, reason = api.EventReleased, job.ReasonNone
	case c.Admin:
		reason = job.ReasonHeldAdmin
	}
	if c.Release && c.Elements != nil && j.Held != job.ReasonNone {
		r.Elements = t.holdEach(j, c)
		j = t.Job(j.ID)
	}
	if c.Elements == nil {
		if j.Held == reason && (!c.Release || j.HeldElements == 0) {
			return r
		}
		next := *j
		if next.Held = reason; j.Held != reason {
			r.Elements = j.Counts[pending]
		}
		t.putJob(&next)
	}
	if c.Elements != nil || c.Release {
		r.Elements = max(r.Elements, t.holdElements(j.ID, c, reason))
	}
	if r.Elements > 0 {
		t.emit(api.Event{Kind: kind, Job: j.ID, Owner: j.Owner, Message: c.Reason})
	}
	return r
}

// holdEach has the elements of a job that is held as a whole be held by themselves, so that
// some of them can be released. It counts what is released by that: a job that is no array
// has one element.
func (t *tx) holdEach(j *Job, c *Hold) (released int32) {
	next := *j
	next.Held = job.ReasonNone
	if j.Spec.Array.IsZero() {
		if !c.has(0) {
			return 0
		}
		released = j.Counts[pending]
	}
	t.putJob(&next)
	if !j.Spec.Array.IsZero() {
		all := Hold{Select: Select{Job: j.ID}, Admin: j.Held == job.ReasonHeldAdmin}
		t.holdElements(j.ID, &all, j.Held)
	}
	return released
}

// holdElements holds or releases elements by themselves.
func (t *tx) holdElements(id job.ID, c *Hold, reason job.Reason) int32 {
	next := *t.Job(id)
	var n int32
	for _, row := range slices.Collect(t.Elements(id)) {
		if !c.has(row.Index) || row.State != job.Pending || (row.Held == "") == c.Release ||
			c.Release && !c.Admin && row.Held == job.ReasonHeldAdmin {
			continue
		}
		e := *row
		e.Held = reason
		t.putElement(&e)
		n++
	}
	if !next.Spec.Array.IsZero() {
		n += t.eachByte(&next, &c.Select, c.change)
	}
	if c.Release {
		next.HeldElements -= n
	} else {
		next.HeldElements += n
	}
	t.putJob(&next)
	return n
}

// change is what happens to the byte of an element that is held, or released.
func (c *Hold) change(b byte) byte {
	switch {
	case c.Release && (b == held || b == heldByAdmin && c.Admin):
		return waiting
	case !c.Release && b == waiting && c.Admin:
		return heldByAdmin
	case !c.Release && b == waiting:
		return held
	}
	return b
}

// unhold takes an element that ends out of the count of held ones.
func (t *tx) unhold(e *Element) {
	if e.Held == "" {
		return
	}
	e.Held = ""
	next := *t.Job(e.Job)
	next.HeldElements--
	t.putJob(&next)
}

// requeue ends attempts under way so that their elements are tried again, and makes
// ended elements wait again.
func (t *tx) requeue(c *Select) Result {
	j, r := t.find(c)
	if r.Err != nil {
		return r
	}
	again := t.ended(j, c)
	if len(again) > MaxRequeue {
		return refuse(api.CodeConflict, "job %d: more than %d ended elements; requeue fewer at once", j.ID, MaxRequeue)
	}
	for _, row := range slices.Collect(t.Elements(j.ID)) {
		if !c.has(row.Index) || row.State == job.Pending || row.ending() {
			continue
		}
		e := *row
		e.Requeue = true
		t.stopAttempt(j, &e, Outcome{State: job.Requeued, Message: c.Reason}, "")
		r.Elements++
	}
	for _, i := range again {
		if t.waitAgain(j, i) {
			r.Elements++
		}
	}
	return r
}

// ended lists the selected elements that have ended, or a few more than MaxRequeue of
// them. It looks a chunk at a time, for there may be a million.
func (t *tx) ended(j *Job, s *Select) []int32 {
	if j.Spec.Array.IsZero() {
		if s.has(0) && j.Done() {
			return []int32{0}
		}
		return nil
	}
	var found []int32
	var c *chunk
	number := int32(-1)
	for i := range s.selected(j) {
		if i/chunkSize != number {
			number = i / chunkSize
			c = chunks.get(t.txn, elementKey(j.ID, number))
		}
		if c == nil {
			continue
		}
		if b := c.Codes[i%chunkSize]; b < byte(codes) && stateOf[b].Ended() {
			if found = append(found, i); len(found) > MaxRequeue {
				break
			}
		}
	}
	return found
}

// ending reports whether the element is being cancelled, or requeued already.
func (e *Element) ending() bool {
	return e.Requeue || e.Stopping != nil && (e.Stopping.State == job.Cancelled || e.Stopping.State == job.Deadline)
}

// waitAgain makes an ended element wait, if it is known how often it was tried: an
// attempt has its number once.
func (t *tx) waitAgain(j *Job, index int32) bool {
	s, _ := t.StateOf(j, index)
	e := &Element{Job: j.ID, Index: index, State: s, Eligible: t.now()}
	for rec := range t.RecordsOfElement(j.ID, index) {
		e.Attempt, e.LeftOut = rec.Attempt, rec.LeftOut
	}
	if e.Attempt == 0 && j.Cut {
		return false
	}
	t.setState(j, e, job.Pending)
	if !j.Spec.Array.IsZero() {
		t.setByte(j.ID, index, detailed)
	}
	t.putElement(e)
	next := *t.Job(j.ID)
	next.Ended, next.Mistaken, next.Claims = time.Time{}, false, nil
	t.putJob(&next)
	return true
}

// stopTask ends the attempt that a task is of.
func (t *tx) stopTask(c *StopTask) Result {
	k := t.Task(c.Task)
	if k == nil {
		return refuse(api.CodeNotFound, "task %s is not under way", c.Task)
	}
	if c.State != job.Preempted && c.State != job.NodeFail {
		return refuse(api.CodeInvalid, "task %s cannot be stopped as %q", c.Task, c.State)
	}
	e := *t.Element(c.Task.Job, c.Task.Element)
	if e.Stopping != nil {
		return Result{}
	}
	t.stopAttempt(t.Job(c.Task.Job), &e, Outcome{State: c.State, Rank: c.Task.Rank, Message: c.Reason}, "")
	return Result{Elements: 1}
}

// unplace gives up an attempt that is not complete.
func (t *tx) unplace(c *Unplace) Result {
	j := t.Job(c.Task.Job)
	row := t.Element(c.Task.Job, c.Task.Element)
	if j == nil || row == nil || row.Attempt != c.Task.Attempt || row.State != job.Starting || row.Placed == j.Spec.Tasks {
		return refuse(api.CodeConflict, "the attempt of task %s is not waiting for nodes", c.Task)
	}
	e := *row
	t.release(j, &e, Outcome{State: job.Requeued, Message: c.Reason})
	return Result{Elements: 1}
}
