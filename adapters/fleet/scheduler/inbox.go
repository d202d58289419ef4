package scheduler

import (
	"maps"
	"slices"
	"sync"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// inbox gathers what has changed until the controller takes it.
type inbox struct {
	signal chan struct{} // has one when there is something

	mu      sync.Mutex
	pending *changes
}

// changes are what has changed since the last look.
type changes struct {
	all      bool
	jobs     map[job.ID]bool
	elements map[state.ElementID]bool
	tasks    map[job.TaskID]bool
	nodes    map[string]bool
	// reservations: some have come or gone.
	reservations bool
	// tree: queues, accounts, users or limits have changed.
	tree bool
}

func newChanges() *changes {
	return &changes{
		jobs: map[job.ID]bool{}, elements: map[state.ElementID]bool{}, tasks: map[job.TaskID]bool{}, nodes: map[string]bool{},
	}
}

func newInbox() *inbox { return &inbox{signal: make(chan struct{}, 1), pending: newChanges()} }

// add adds changes.
func (b *inbox) add(ch state.Changed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pending
	p.all = p.all || ch.All
	p.reservations = p.reservations || ch.Reservations
	p.tree = p.tree || ch.Tree
	for _, id := range ch.Jobs {
		p.jobs[id] = true
	}
	for _, id := range ch.Elements {
		p.elements[id] = true
	}
	for _, id := range ch.Tasks {
		p.tasks[id] = true
	}
	for _, name := range ch.Nodes {
		p.nodes[name] = true
	}
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// take returns what has changed and begins anew.
func (b *inbox) take() *changes {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pending
	b.pending = newChanges()
	return p
}

// everything is all that there is in the view.
func everything(v state.View) *changes {
	ch := newChanges()
	ch.reservations, ch.tree = true, true
	for n := range v.Nodes() {
		ch.nodes[n.Node] = true
	}
	for k := range v.Tasks() {
		ch.tasks[k.ID] = true
	}
	for j := range v.Jobs() {
		if j.Done() {
			continue
		}
		ch.jobs[j.ID] = true
		for e := range v.Elements(j.ID) {
			ch.elements[state.ElementID{Job: j.ID, Index: e.Index}] = true
		}
	}
	return ch
}

// jobsInOrder lists the jobs that have changed, or have elements that have, oldest
// first.
func (ch *changes) jobsInOrder() []job.ID {
	for id := range ch.elements {
		ch.jobs[id.Job] = true
	}
	return slices.Sorted(maps.Keys(ch.jobs))
}
