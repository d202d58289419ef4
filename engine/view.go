package engine

import (
	"context"
	"errors"
	"iter"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// View is the engine's record at one moment: read only, typed, and never
// changing. It may be used by any goroutine and kept for as long as wanted;
// taking one costs nothing. What the records point to is the engine's own, frozen: it
// may be kept, and must not be changed (a build with the tag berth_invariants panics
// where it was).
type View struct {
	store *store.Store // a snapshot
	live  *store.Store // what it is a snapshot of, nil on a branch
}

// Index is the number of the last transaction that the view contains.
func (v *View) Index() uint64 { return v.store.Index() }

// Node returns the node with the name; false where there is none.
func (v *View) Node(name string) (model.NodeRecord, bool) {
	return recordOf(v.store.Node(name), (*store.Node).Record)
}

// Nodes lists the nodes by name.
func (v *View) Nodes() iter.Seq[model.NodeRecord] {
	return records(v.store.Nodes(), (*store.Node).Record)
}

// Workload returns the workload with the ID; false where there is none.
func (v *View) Workload(id string) (model.WorkloadRecord, bool) {
	return recordOf(v.store.Workload(id), (*store.Workload).Record)
}

// Workloads lists all workloads by ID.
func (v *View) Workloads() iter.Seq[model.WorkloadRecord] {
	return records(v.store.Workloads(), (*store.Workload).Record)
}

// WorkloadsIn lists the workloads in the phase.
func (v *View) WorkloadsIn(p model.Phase) iter.Seq[model.WorkloadRecord] {
	return records(v.store.WorkloadsIn(p), (*store.Workload).Record)
}

// WorkloadsOn lists the workloads that take room on the node.
func (v *View) WorkloadsOn(node string) iter.Seq[model.WorkloadRecord] {
	return records(v.store.WorkloadsOn(node), (*store.Workload).Record)
}

// Stranded lists the workloads that take room on a node that the engine does not know,
// by phase, node and ID. Some are to be expected while an engine is being told what
// there is, because [Adopt] and [Confirm] may come before the node. After that each is
// one whose node was removed, or was never reported, without the workload having been
// requeued, finished or removed: it waits for ever. It reads all workloads on nodes.
func (v *View) Stranded() iter.Seq[model.WorkloadRecord] {
	return func(yield func(model.WorkloadRecord) bool) {
		for p := model.Assumed; p.TakesRoom(); p++ {
			for w := range v.WorkloadsIn(p) {
				if _, known := v.Node(w.Node); !known && !yield(w) {
					return
				}
			}
		}
	}
}

// WorkloadsOf lists the members of the group.
func (v *View) WorkloadsOf(group string) iter.Seq[model.WorkloadRecord] {
	return records(v.store.WorkloadsOf(group), (*store.Workload).Record)
}

// Group returns the group with the ID; false where there is none.
func (v *View) Group(id string) (model.GroupRecord, bool) {
	return recordOf(v.store.Group(id), (*store.Group).Record)
}

// Groups lists the groups by ID.
func (v *View) Groups() iter.Seq[model.GroupRecord] {
	return records(v.store.Groups(), (*store.Group).Record)
}

// Object returns the object; false where there is none.
func (v *View) Object(ref model.ObjectRef) (model.ObjectRecord, bool) {
	return recordOf(v.store.Object(ref), (*store.Object).Record)
}

// Objects lists the objects of the kind, by ID.
func (v *View) Objects(kind model.ObjectKind) iter.Seq[model.ObjectRecord] {
	return records(v.store.Objects(kind), (*store.Object).Record)
}

// Budget returns the budget with the ID; false where there is none.
func (v *View) Budget(id string) (model.BudgetRecord, bool) {
	return recordOf(v.store.Budget(id), (*store.Budget).Record)
}

// Budgets lists the budgets by ID.
func (v *View) Budgets() iter.Seq[model.BudgetRecord] {
	return records(v.store.Budgets(), (*store.Budget).Record)
}

// Namespace returns the namespace with the name; false where there is none.
func (v *View) Namespace(name string) (model.NamespaceRecord, bool) {
	return recordOf(v.store.Namespace(name), (*store.Namespace).Record)
}

// Namespaces lists the namespaces by name.
func (v *View) Namespaces() iter.Seq[model.NamespaceRecord] {
	return records(v.store.Namespaces(), (*store.Namespace).Record)
}

func recordOf[Row, Record any](row *Row, record func(*Row) Record) (Record, bool) {
	if row == nil {
		var none Record
		return none, false
	}
	return record(row), true
}

func records[Row, Record any](rows iter.Seq[*Row], record func(*Row) Record) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for row := range rows {
			if !yield(record(row)) {
				return
			}
		}
	}
}

// Query is something to wait for a change of; see [View.Wait]. The functions that return
// one make it; the zero Query is about nothing.
type Query struct {
	watch func(*store.Store) <-chan struct{}
}

var errNoQuery = errors.New("the zero Query is about nothing; make queries with the functions, for example engine.QueryWorkloads")

func query[A any](watch func(*store.Store) (A, <-chan struct{})) Query {
	return Query{func(s *store.Store) <-chan struct{} {
		_, changed := watch(s)
		return changed
	}}
}

// QueryNodes is about any node.
func QueryNodes() Query { return query((*store.Store).WatchNodes) }

// QueryNode is about the node with the name.
func QueryNode(name string) Query {
	return query(func(s *store.Store) (*store.Node, <-chan struct{}) { return s.WatchNode(name) })
}

// QueryWorkloads is about any workload.
func QueryWorkloads() Query { return query((*store.Store).WatchWorkloads) }

// QueryWorkload is about the workload with the ID.
func QueryWorkload(id string) Query {
	return query(func(s *store.Store) (*store.Workload, <-chan struct{}) { return s.WatchWorkload(id) })
}

// QueryPhase is about which workloads are in the phase, and what is recorded
// of them.
func QueryPhase(p model.Phase) Query {
	return query(func(s *store.Store) (iter.Seq[*store.Workload], <-chan struct{}) { return s.WatchPhase(p) })
}

// QueryWorkloadsOn is about the workloads that take room on the node.
func QueryWorkloadsOn(node string) Query {
	return query(func(s *store.Store) (iter.Seq[*store.Workload], <-chan struct{}) { return s.WatchWorkloadsOn(node) })
}

// QueryWorkloadsOf is about the members of the group.
func QueryWorkloadsOf(group string) Query {
	return query(func(s *store.Store) (iter.Seq[*store.Workload], <-chan struct{}) { return s.WatchWorkloadsOf(group) })
}

// QueryObjects is about the objects of the kind, and what has been decided about
// them.
func QueryObjects(kind model.ObjectKind) Query {
	return query(func(s *store.Store) (iter.Seq[*store.Object], <-chan struct{}) { return s.WatchObjects(kind) })
}

// QueryObject is about the object, and what has been decided about it.
func QueryObject(ref model.ObjectRef) Query {
	return query(func(s *store.Store) (*store.Object, <-chan struct{}) { return s.WatchObject(ref) })
}

// Wait blocks until what v says about the query may no longer be so, or ctx
// ends, and returns the view of then. It may return without a change that
// matters; compare what you read. No change is missed between v and the new
// view: use each view to wait for the next. The zero Query is refused with
// an error at once.
func (v *View) Wait(ctx context.Context, q Query) (*View, error) {
	if q.watch == nil {
		return v, errNoQuery
	}
	if v.live == nil {
		<-ctx.Done() // a branch changes only when its owner changes it
		return v, context.Cause(ctx)
	}
	// First register, then look whether something has changed already: a
	// change in between closes the channel.
	changed := q.watch(v.live)
	if v.live.Index() != v.store.Index() && ctx.Err() == nil {
		return &View{store: v.live.Snapshot(), live: v.live}, nil
	}
	select {
	case <-changed:
		return &View{store: v.live.Snapshot(), live: v.live}, nil
	case <-ctx.Done():
		return v, context.Cause(ctx)
	}
}
