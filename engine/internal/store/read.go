package store

import (
	"iter"

	"github.com/hashicorp/go-memdb"

	"github.com/berth-project/berth/model"
)

// Reader has the reads that a [Store] and a [Txn] have in common. Rows are
// shared and must not be changed. A read of one row returns nil where there is
// none.
//
// A sequence shows the rows as they were when the method was called on a
// store, or when the loop began on a transaction; writing inside the loop is
// allowed and does not show in it. It can be ranged over more than once. Its
// order depends on nothing but the rows; names and IDs compare bytewise.
type Reader struct {
	src source
}

// source is a Store or a Txn.
type source interface {
	now() moment
}

// moment is a state or a Txn.
type moment interface {
	// view returns the memdb transaction to scan.
	view() *memdb.Txn
	// row returns one row, or nil.
	row(k Kind, id string) any
}

// Node returns the node with the name.
func (r *Reader) Node(name string) *Node { return one[Node](r, NodeKind, name) }

// Workload returns the workload with the ID.
func (r *Reader) Workload(id string) *Workload { return one[Workload](r, WorkloadKind, id) }

// Group returns the group with the ID.
func (r *Reader) Group(id string) *Group { return one[Group](r, GroupKind, id) }

// Budget returns the budget with the ID.
func (r *Reader) Budget(id string) *Budget { return one[Budget](r, BudgetKind, id) }

// Namespace returns the namespace with the name.
func (r *Reader) Namespace(name string) *Namespace { return one[Namespace](r, NamespaceKind, name) }

// Object returns the object.
func (r *Reader) Object(ref model.ObjectRef) *Object {
	return one[Object](r, ObjectKind, objectKey(ref))
}

// Objects lists the objects of the kind, by ID.
func (r *Reader) Objects(kind model.ObjectKind) iter.Seq[*Object] {
	return scan[Object](r, ObjectKind, idIndex, objectKey(model.ObjectRef{Kind: kind}))
}

// Nodes lists all nodes, by name. (The order of arrival is Node.Seq.)
func (r *Reader) Nodes() iter.Seq[*Node] { return scan[Node](r, NodeKind, idIndex) }

// Workloads lists all workloads, by ID.
func (r *Reader) Workloads() iter.Seq[*Workload] { return scan[Workload](r, WorkloadKind, idIndex) }

// WorkloadsIn lists the workloads in the phase, by node and ID.
func (r *Reader) WorkloadsIn(p model.Phase) iter.Seq[*Workload] {
	return scan[Workload](r, WorkloadKind, placeIndex, phasePrefix(p))
}

// WorkloadsOn lists the workloads that take room on the node, by phase and ID.
// The node need not exist. None are on the node without a name.
func (r *Reader) WorkloadsOn(node string) iter.Seq[*Workload] {
	m := r.src.now()
	return func(yield func(*Workload) bool) {
		if node == "" {
			return
		}
		for p := firstRoomPhase; p <= lastRoomPhase; p++ {
			for w := range rows[Workload](m, WorkloadKind.String(), placeIndex, placePrefix(p, node)) {
				if !yield(w) {
					return
				}
			}
		}
	}
}

// The phases that take room; a test holds them against [model.Phase.TakesRoom].
const (
	firstRoomPhase = model.Assumed
	lastRoomPhase  = model.Terminating
)

// WorkloadsOf lists the members of the group, by ID, whatever their phase. The
// group need not exist. Workloads without a group are not listed, not even
// under the empty ID.
func (r *Reader) WorkloadsOf(group string) iter.Seq[*Workload] {
	m := r.src.now()
	return func(yield func(*Workload) bool) {
		for spec := range rows[model.Workload](m, memberTable, idIndex, groupPrefix(group)) {
			if w, _ := m.row(WorkloadKind, spec.ID).(*Workload); w != nil && !yield(w) {
				return
			}
		}
	}
}

// Groups lists all groups, by ID.
func (r *Reader) Groups() iter.Seq[*Group] { return scan[Group](r, GroupKind, idIndex) }

// Budgets lists all budgets, by ID.
func (r *Reader) Budgets() iter.Seq[*Budget] { return scan[Budget](r, BudgetKind, idIndex) }

// Namespaces lists all namespaces, by name.
func (r *Reader) Namespaces() iter.Seq[*Namespace] { return scan[Namespace](r, NamespaceKind, idIndex) }

func one[R any](r *Reader, k Kind, id string) *R {
	row, _ := r.src.now().row(k, id).(*R)
	return row
}

func scan[R any](r *Reader, k Kind, index string, prefix ...any) iter.Seq[*R] {
	return rows[R](r.src.now(), k.String(), index, prefix...)
}

// rows lists the rows whose key in the index begins with the prefix, which is
// at most one string; none is all rows.
func rows[R any](m moment, table, index string, prefix ...any) iter.Seq[*R] {
	return func(yield func(*R) bool) {
		list, err := m.view().Get(table, index, prefix...)
		if err != nil {
			panic("store: " + err.Error()) // a wrong table or argument: a bug here
		}
		for row := list.Next(); row != nil; row = list.Next() {
			if !yield(row.(*R)) {
				return
			}
		}
	}
}
