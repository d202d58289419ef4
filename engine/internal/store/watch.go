package store

import (
	"iter"
	"sync"

	"github.com/berth-project/berth/model"
)

// watches holds the channels that wait for a commit.
//
// The tree nodes of memdb have channels of their own, but they fire for
// neighbours in the tree too, there is none for an answer put together from
// several places, none fires for a write to a branch, and to track them costs
// every write. Here a channel belongs to one answer. The steps, which lose no
// wake-up:
//
//	reader: 1. register the channel  2. read
//	writer: a. publish the state     b. fire the channels
//
// If the reader missed the new state, 2 was before a, so 1 was before b.
//
// A channel that nobody waits for any more stays registered until it fires. To
// keep that from growing for ever, one of the others fires when there are
// maxWatches: whoever waits for it looks in vain and registers again.
type watches struct {
	mu      sync.Mutex
	waiting map[watchKey]chan struct{}
}

const maxWatches = 1 << 17

// watchKey names an answer.
type watchKey struct {
	answer answer
	kind   Kind
	id     string // of the row, node or group; for a phase its byte, for a list of objects their kind
}

type answer uint8

const (
	oneRow  answer = iota // the row of the kind and ID
	allRows               // all rows of the kind
	inPhase               // WorkloadsIn
	onNode                // WorkloadsOn
	ofGroup               // WorkloadsOf
)

func (w *watches) register(key watchKey) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch := w.waiting[key]
	if ch != nil {
		return ch
	}
	if len(w.waiting) >= maxWatches {
		for other, ch := range w.waiting {
			close(ch)
			delete(w.waiting, other)
			break
		}
	}
	if w.waiting == nil {
		w.waiting = map[watchKey]chan struct{}{}
	}
	ch = make(chan struct{})
	w.waiting[key] = ch
	return ch
}

func (w *watches) fire(changes []Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range changes {
		if len(w.waiting) == 0 {
			return
		}
		c := &changes[i]
		w.wake(watchKey{oneRow, c.Kind, c.ID()})
		w.wake(watchKey{allRows, c.Kind, ""})
		switch c.Kind {
		case WorkloadKind:
			w.wakeLists(c.OldWorkload)
			w.wakeLists(c.NewWorkload)
		case ObjectKind:
			w.wake(watchKey{allRows, ObjectKind, string(either(c.OldObject, c.NewObject).Ref().Kind)})
		}
	}
}

// wakeLists wakes those who watch a list that the row is in.
func (w *watches) wakeLists(row *Workload) {
	if row == nil {
		return
	}
	w.wake(watchKey{inPhase, WorkloadKind, phasePrefix(row.Phase)})
	if row.Node != "" {
		w.wake(watchKey{onNode, WorkloadKind, row.Node})
	}
	if row.Info.Group != "" {
		w.wake(watchKey{ofGroup, WorkloadKind, row.Info.Group})
	}
}

func (w *watches) wake(key watchKey) {
	if ch := w.waiting[key]; ch != nil {
		close(ch)
		delete(w.waiting, key)
	}
}

// The Watch methods return what the read of the same name returns, and a
// channel that is closed when a later commit to this store changes a row of the
// answer, adds one or takes one away. It may, rarely, be closed without that,
// so whoever waits must read again. Waiting needs no goroutine, and a channel
// needs no release. Where several reads, or a read and Index, must agree,
// register first and then read from a Snapshot.

// WatchNode is Node with a channel.
func (s *Store) WatchNode(name string) (*Node, <-chan struct{}) {
	ch := s.watches.register(watchKey{oneRow, NodeKind, name})
	return s.Node(name), ch
}

// WatchWorkload is Workload with a channel.
func (s *Store) WatchWorkload(id string) (*Workload, <-chan struct{}) {
	ch := s.watches.register(watchKey{oneRow, WorkloadKind, id})
	return s.Workload(id), ch
}

// WatchGroup is Group with a channel.
func (s *Store) WatchGroup(id string) (*Group, <-chan struct{}) {
	ch := s.watches.register(watchKey{oneRow, GroupKind, id})
	return s.Group(id), ch
}

// WatchBudget is Budget with a channel.
func (s *Store) WatchBudget(id string) (*Budget, <-chan struct{}) {
	ch := s.watches.register(watchKey{oneRow, BudgetKind, id})
	return s.Budget(id), ch
}

// WatchNamespace is Namespace with a channel.
func (s *Store) WatchNamespace(name string) (*Namespace, <-chan struct{}) {
	ch := s.watches.register(watchKey{oneRow, NamespaceKind, name})
	return s.Namespace(name), ch
}

// WatchObject is Object with a channel.
func (s *Store) WatchObject(ref model.ObjectRef) (*Object, <-chan struct{}) {
	ch := s.watches.register(watchKey{oneRow, ObjectKind, objectKey(ref)})
	return s.Object(ref), ch
}

// WatchObjects is Objects with a channel.
func (s *Store) WatchObjects(kind model.ObjectKind) (iter.Seq[*Object], <-chan struct{}) {
	ch := s.watches.register(watchKey{allRows, ObjectKind, string(kind)})
	return s.Objects(kind), ch
}

// WatchNodes is Nodes with a channel.
func (s *Store) WatchNodes() (iter.Seq[*Node], <-chan struct{}) {
	ch := s.watches.register(watchKey{allRows, NodeKind, ""})
	return s.Nodes(), ch
}

// WatchWorkloads is Workloads with a channel.
func (s *Store) WatchWorkloads() (iter.Seq[*Workload], <-chan struct{}) {
	ch := s.watches.register(watchKey{allRows, WorkloadKind, ""})
	return s.Workloads(), ch
}

// WatchPhase is WorkloadsIn with a channel.
func (s *Store) WatchPhase(p model.Phase) (iter.Seq[*Workload], <-chan struct{}) {
	ch := s.watches.register(watchKey{inPhase, WorkloadKind, phasePrefix(p)})
	return s.WorkloadsIn(p), ch
}

// WatchWorkloadsOn is WorkloadsOn with a channel.
func (s *Store) WatchWorkloadsOn(node string) (iter.Seq[*Workload], <-chan struct{}) {
	ch := s.watches.register(watchKey{onNode, WorkloadKind, node})
	return s.WorkloadsOn(node), ch
}

// WatchWorkloadsOf is WorkloadsOf with a channel.
func (s *Store) WatchWorkloadsOf(group string) (iter.Seq[*Workload], <-chan struct{}) {
	ch := s.watches.register(watchKey{ofGroup, WorkloadKind, group})
	return s.WorkloadsOf(group), ch
}

// WatchGroups is Groups with a channel.
func (s *Store) WatchGroups() (iter.Seq[*Group], <-chan struct{}) {
	ch := s.watches.register(watchKey{allRows, GroupKind, ""})
	return s.Groups(), ch
}

// WatchBudgets is Budgets with a channel.
func (s *Store) WatchBudgets() (iter.Seq[*Budget], <-chan struct{}) {
	ch := s.watches.register(watchKey{allRows, BudgetKind, ""})
	return s.Budgets(), ch
}

// WatchNamespaces is Namespaces with a channel.
func (s *Store) WatchNamespaces() (iter.Seq[*Namespace], <-chan struct{}) {
	ch := s.watches.register(watchKey{allRows, NamespaceKind, ""})
	return s.Namespaces(), ch
}
