package store

import (
	"iter"

	"github.com/berth-project/berth/model"
)

// The Watch methods return what the read of the same name returns, and a
// channel that is closed when a later commit to this store changes a row of the
// answer, adds one or takes one away. It may, rarely, be closed without that,
// so waiters must read again. Waiting needs no goroutine, and a channel
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
