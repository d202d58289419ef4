package state

import (
	"slices"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// place gives a task its node, if it still fits there. With the first task of an
// attempt the attempt begins, with the last it is complete.
func (t *tx) place(c *Place) Result {
	j := t.Job(c.Task.Job)
	if j == nil {
		return refuse(api.CodeNotFound, "place task %s: there is no job %d", c.Task, c.Task.Job)
	}
	if k := t.Task(c.Task); k != nil && k.Node == c.Node {
		return Result{} // it is there already: the answer was lost
	}
	e, r := t.placeable(j, c.Task)
	if r.Err != nil {
		return r
	}
	n := t.Node(c.Node)
	if n == nil {
		return refuse(api.CodeNotFound, "place task %s: there is no node %q", c.Task, c.Node)
	}
	if !n.Usable() {
		return refuse(api.CodeConflict, "place task %s on node %q: the node takes no tasks now", c.Task, c.Node)
	}
	for _, g := range c.GPUs {
		if g.GPU < 0 || g.GPU >= len(n.Machine.GPUs) || g.Share <= 0 || g.Share > wholeGPU {
			return refuse(api.CodeConflict, "place task %s on node %q: it has no such part of GPU %d", c.Task, c.Node, g.GPU)
		}
	}
	u := t.Used(c.Node).take(&j.Spec.Resources, c.GPUs)
	if problem := u.over(n); problem != "" {
		return refuse(api.CodeConflict, "place task %s on node %q: %s", c.Task, c.Node, problem)
	}
	t.putUsed(u, false)
	t.putTask(&Task{ID: c.Task, Node: c.Node, GPUs: c.GPUs, State: job.Starting, Placed: t.now()})
	t.addPlaced(j, e, c)
	return Result{Elements: 1}
}

// placeable returns the element's row for the attempt, a copy, if the task may be
// placed.
func (t *tx) placeable(j *Job, id job.TaskID) (*Element, Result) {
	if !j.HasElement(id.Element) || id.Rank >= j.Spec.Tasks {
		return nil, refuse(api.CodeNotFound, "place task %s: job %d has no such task", id, j.ID)
	}
	e := t.Element(j.ID, id.Element)
	if e == nil {
		s, isHeld := t.StateOf(j, id.Element)
		if s != job.Pending || isHeld || j.Held != "" {
			return nil, refuse(api.CodeConflict, "place task %s: the element is %s, or held", id, s)
		}
		e = &Element{Job: j.ID, Index: id.Element, State: job.Pending}
	}
	next := *e
	switch {
	case e.State == job.Pending && id.Attempt == t.NextAttempt(j.ID, id.Element) && e.Held == "" && j.Held == "":
		next.begin(id.Attempt, j.Spec.Tasks)
	case e.State == job.Starting && id.Attempt == e.Attempt && e.Outcome == nil && next.Nodes[id.Rank] == "":
		next.Nodes = slices.Clone(e.Nodes)
	default:
		return nil, refuse(api.CodeConflict, "place task %s: the element is %s in attempt %d", id, e.State, e.Attempt)
	}
	return &next, Result{}
}

// begin makes the row that of a new attempt.
func (e *Element) begin(attempt, tasks int32) {
	*e = Element{
		Job: e.Job, Index: e.Index, State: job.Pending, Attempt: attempt, LeftOut: e.LeftOut + attempt - e.Attempt - 1,
		Failures: e.Failures, Losses: e.Losses, Claims: e.Claims, Nodes: make([]string, tasks),
	}
}

// addPlaced records that one more task of the attempt has a node.
func (t *tx) addPlaced(j *Job, e *Element, c *Place) {
	if e.State == job.Pending {
		t.setState(j, e, job.Starting)
	}
	e.Nodes[c.Task.Rank] = c.Node
	e.Placed++
	if e.Placed == j.Spec.Tasks {
		e.Ready = t.now()
		t.giveOrders(c.Task)
		t.emitElement(api.EventPlaced, j, e, Outcome{State: e.State})
	}
	t.putElement(e)
}

// giveOrders lets all tasks of a complete attempt start.
func (t *tx) giveOrders(id job.TaskID) {
	for _, old := range slices.Collect(t.AttemptTasks(id)) {
		k := *old
		k.Ready = true
		t.putOrder(&k)
	}
}

// setState changes the state of an element in its row, which is put by the caller,
// and in its job, of which a copy is put.
func (t *tx) setState(j *Job, e *Element, s job.State) {
	next := *t.Job(j.ID)
	next.Counts.move(e.State, s)
	if e.State == job.Pending && next.Started.IsZero() {
		next.Started = t.now()
	}
	if e.State == job.Pending && !j.Spec.Array.IsZero() {
		t.setByte(j.ID, e.Index, detailed)
	}
	e.State = s
	t.putJob(&next)
}

// setByte sets an element's byte in its chunk.
func (t *tx) setByte(id job.ID, index int32, b byte) {
	k := elementKey(id, index/chunkSize)
	next := &chunk{Job: id, Number: index / chunkSize}
	if c := chunks.get(t.txn, k); c != nil {
		next.Codes = slices.Clone(c.Codes)
	} else {
		next.Codes = make([]byte, chunkSize)
	}
	next.Codes[index%chunkSize] = b
	chunks.put(t.txn, next)
}
