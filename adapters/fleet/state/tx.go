package state

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// tx is the application of one log entry.
type tx struct {
	View
	index, term uint64
	m           *meta // written at the end
	by          string
	events      []api.Event
	// secondOpinion is Report.SecondOpinion.
	secondOpinion bool

	jobs     map[job.ID]bool
	elements map[ElementID]bool
	tasks    map[job.TaskID]bool
	nodes    map[string]bool
	revoked  bool
	reserved bool // reservations have changed
	tree     bool // queues, accounts, users or limits have
}

func newTx(txn *memdb.Txn, index, term uint64) *tx {
	return &tx{
		View: View{txn: txn}, index: index, term: term,
		jobs: map[job.ID]bool{}, elements: map[ElementID]bool{}, tasks: map[job.TaskID]bool{}, nodes: map[string]bool{},
	}
}

// changed lists what has been put and removed.
func (t *tx) changed() Changed {
	return Changed{
		Jobs:         slices.Collect(maps.Keys(t.jobs)),
		Elements:     slices.Collect(maps.Keys(t.elements)),
		Tasks:        slices.Collect(maps.Keys(t.tasks)),
		Revoked:      t.revoked,
		Reservations: t.reserved,
		Tree:         t.tree,
		Nodes:        slices.Collect(maps.Keys(t.nodes)),
	}
}

// now is the time of the command that is being applied.
func (t *tx) now() time.Time { return t.m.Now }

func (t *tx) putJob(j *Job) {
	t.holdJob(t.Job(j.ID), j)
	jobs.put(t.txn, j)
	t.jobs[j.ID] = true
}

func (t *tx) putElement(e *Element) {
	elements.put(t.txn, e)
	t.elements[ElementID{e.Job, e.Index}] = true
}

// dropElement forgets the row of an element, if it has one.
func (t *tx) dropElement(e *Element) {
	if old := t.Element(e.Job, e.Index); old != nil {
		elements.remove(t.txn, old)
	}
	t.elements[ElementID{e.Job, e.Index}] = true
}

func (t *tx) putTask(k *Task) {
	tasks.put(t.txn, k)
	t.tasks[k.ID] = true
}

// putOrder puts a task whose order has changed, so that its node hears of it.
func (t *tx) putOrder(k *Task) {
	k.Index = t.index
	t.putTask(k)
	u := *t.Used(k.Node)
	t.putUsed(&u, true)
}

// dropTask forgets a task and gives back what it had of its node.
func (t *tx) dropTask(j *Job, k *Task) {
	tasks.remove(t.txn, k)
	t.tasks[k.ID] = true
	t.putUsed(t.Used(k.Node).give(&j.Spec.Resources, k.GPUs), true)
}

// putUsed puts what is used of a node, and notes whether its orders have changed.
func (t *tx) putUsed(u *Used, orders bool) {
	if orders {
		u.Index = t.index
	}
	used.put(t.txn, u)
	t.nodes[u.Node] = true
}

func (t *tx) putNode(n *Node) {
	nodes.put(t.txn, n)
	t.nodes[n.Node] = true
}

// emit adds an event.
func (t *tx) emit(e api.Event) {
	e.ID = fmt.Sprintf("%d.%d", t.index, len(t.events))
	e.At = t.now()
	e.By = t.by
	t.events = append(t.events, e)
}

// emitElement adds an event about an element.
func (t *tx) emitElement(kind api.EventKind, j *Job, e *Element, o Outcome) {
	index := e.Index
	event := api.Event{
		Kind: kind, Job: j.ID, Owner: j.Owner, Element: &index, Attempt: e.Attempt, State: o.State, Message: o.Message,
	}
	if len(e.Nodes) > 0 {
		event.Node = e.Nodes[o.Rank]
	}
	t.emit(event)
}
