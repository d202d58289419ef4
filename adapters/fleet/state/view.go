package state

import (
	"iter"
	"math"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Queue is a class of jobs.
type Queue = api.Queue

// View is the state at one moment. It may be read by any goroutine, one at a time,
// for as long as wanted. What it returns must not be changed.
type View struct {
	txn *memdb.Txn
}

func (v View) meta() *meta {
	if m := metas.get(v.txn, []byte("meta")); m != nil {
		return m
	}
	return &meta{NextJob: 1}
}

// Index is that of the last change.
func (v View) Index() uint64 { return v.meta().Index }

// Now is the time of the last change.
func (v View) Now() time.Time { return v.meta().Now }

// Job returns a job, nil where there is none.
func (v View) Job(id job.ID) *Job { return jobs.get(v.txn, jobKey(id)) }

// Jobs yields all jobs, oldest first.
func (v View) Jobs() iter.Seq[*Job] { return jobs.all(v.txn, "id", nil) }

// JobsBefore yields the jobs with smaller numbers, newest first. Before 0 are all.
func (v View) JobsBefore(id job.ID) iter.Seq[*Job] {
	return jobs.downFrom(v.txn, jobKey(id-1)) // 0 wraps to the largest
}

// OldestNamed returns the oldest of the owner's jobs of the name that have not ended, nil for none.
func (v View) OldestNamed(owner, name string) *Job {
	for j := range jobs.all(v.txn, byName, append(nameKey(owner), nameKey(name)...)) {
		return j
	}
	return nil
}

// ActiveOf yields the owner's jobs that have not ended, by name.
func (v View) ActiveOf(owner string) iter.Seq[*Job] {
	return jobs.all(v.txn, byName, nameKey(owner))
}

// Submitted reports whether a submission of the owner with the key is remembered.
func (v View) Submitted(owner, k string) bool {
	return keys.get(v.txn, keys.id(&key{Owner: owner, Key: k})) != nil
}

// Element returns the row of an element, nil where it has none.
func (v View) Element(id job.ID, index int32) *Element {
	return elements.get(v.txn, elementKey(id, index))
}

// Elements yields the rows of a job's elements, by index.
func (v View) Elements(id job.ID) iter.Seq[*Element] { return elements.all(v.txn, "id", jobKey(id)) }

// Task returns a task that is under way, nil where there is none.
func (v View) Task(id job.TaskID) *Task { return tasks.get(v.txn, taskKey(id)) }

// Tasks yields all tasks.
func (v View) Tasks() iter.Seq[*Task] { return tasks.all(v.txn, "id", nil) }

// AttemptTasks yields the tasks of the attempt that the task is of, by rank.
func (v View) AttemptTasks(id job.TaskID) iter.Seq[*Task] {
	return tasks.all(v.txn, "id", attemptKey(id))
}

// TasksOn yields the tasks on a node.
func (v View) TasksOn(node string) iter.Seq[*Task] { return tasks.all(v.txn, byNode, nameKey(node)) }

// Node returns a node, nil where there is none.
func (v View) Node(name string) *Node { return nodes.get(v.txn, []byte(name)) }

// Nodes yields the nodes, by name.
func (v View) Nodes() iter.Seq[*Node] { return nodes.all(v.txn, "id", nil) }

// FailedToStart yields the nodes that could not start an element, and have started nothing
// since, by name.
func (v View) FailedToStart(e *Element) iter.Seq[*Node] {
	return nodes.all(v.txn, byFailed, elementKey(e.Job, e.Index))
}

// Used returns what tasks have of a node.
func (v View) Used(node string) *Used {
	if u := used.get(v.txn, []byte(node)); u != nil {
		return u
	}
	return &Used{Node: node}
}

// Queue returns a queue, nil where there is none.
func (v View) Queue(name string) *Queue {
	if q := queues.get(v.txn, []byte(name)); q != nil {
		return q
	}
	if name == job.DefaultQueue {
		return &Queue{Name: name}
	}
	return nil
}

// Queues lists the queues, by name.
func (v View) Queues() []*Queue {
	var all []*Queue
	seen := false
	for q := range queues.all(v.txn, "id", nil) {
		seen = seen || q.Name == job.DefaultQueue
		all = append(all, q)
	}
	if !seen {
		all = append([]*Queue{v.Queue(job.DefaultQueue)}, all...)
	}
	return all
}

// Reservations yields the reservations, by name.
func (v View) Reservations() iter.Seq[*Reservation] { return reservations.all(v.txn, "id", nil) }

// Reservation returns a reservation, nil where there is none.
func (v View) Reservation(name string) *Reservation { return reservations.get(v.txn, []byte(name)) }

// Tokens yields the tokens.
func (v View) Tokens() iter.Seq[*Token] { return tokens.all(v.txn, "id", nil) }

// Token returns a token, nil where there is none.
func (v View) Token(id string) *Token { return tokens.get(v.txn, []byte(id)) }

// Revocations yields what certificates are not good any more.
func (v View) Revocations() iter.Seq[*api.Revocation] { return revoked.all(v.txn, "id", nil) }

// Revocation returns that of a serial number or of role/name, nil where there is none.
func (v View) Revocation(id string) *api.Revocation { return revoked.get(v.txn, []byte(id)) }

// RecordsAfter yields records with larger numbers, oldest first.
func (v View) RecordsAfter(seq uint64) iter.Seq[*Record] {
	if seq == math.MaxUint64 {
		return func(func(*Record) bool) {}
	}
	return records.from(v.txn, be64(nil, seq+1))
}

// RecordsOf yields the records of a job, by element and then by age.
func (v View) RecordsOf(id job.ID) iter.Seq[*Record] { return records.all(v.txn, byJob, jobKey(id)) }

// RecordsOfElement yields the records of an element, oldest first.
func (v View) RecordsOfElement(id job.ID, index int32) iter.Seq[*Record] {
	return records.all(v.txn, byJob, elementKey(id, index))
}

// Totals yields what users have used, by name.
func (v View) Totals() iter.Seq2[string, Total] {
	return func(yield func(string, Total) bool) {
		for t := range totals.all(v.txn, "id", nil) {
			if !yield(t.Owner, t.Used) {
				return
			}
		}
	}
}

// StateOf is the state of an element as its chunk has it, and whether it is held by
// itself; for an element with a row, the row's.
func (v View) StateOf(j *Job, index int32) (s job.State, isHeld bool) {
	if e := v.Element(j.ID, index); e != nil {
		return e.State, e.Held != ""
	}
	if j.Spec.Array.IsZero() {
		return j.State(), false // its only element has ended, or waits
	}
	switch b := v.byteOf(j.ID, index); b {
	case held, heldByAdmin:
		return job.Pending, true
	default:
		return stateOf[b], false
	}
}

func (v View) byteOf(id job.ID, index int32) byte {
	if c := chunks.get(v.txn, elementKey(id, index/chunkSize)); c != nil {
		return c.Codes[index%chunkSize]
	}
	return waiting
}

// NextWaiting returns the first element after the index that waits as it was
// submitted, false where there is none. Before the first is -1.
func (v View) NextWaiting(j *Job, after int32) (int32, bool) {
	if j.Spec.Array.IsZero() {
		return 0, after < 0 && j.Counts[pending] == 1 && v.Element(j.ID, 0) == nil
	}
	var c *chunk
	for {
		index, ok := j.Spec.Array.Next(after)
		if !ok {
			return 0, false
		}
		if n := index / chunkSize; c == nil || c.Number != n {
			c = chunks.get(v.txn, elementKey(j.ID, n))
			if c == nil {
				return index, true
			}
		}
		if c.Codes[index%chunkSize] == waiting {
			return index, true
		}
		after = index
	}
}
