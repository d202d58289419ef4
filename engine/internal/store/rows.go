package store

import (
	"iter"
	"slices"
)

// Rows are all rows of a store, with what it numbers them by.
type Rows struct {
	// Index is [Store.Index]. Seq and Arrivals are those of the last node and the
	// last workload that arrived.
	Index, Seq, Arrivals uint64

	Namespaces []*Namespace
	Groups     []*Group
	Budgets    []*Budget
	Objects    []*Object
	Nodes      []*Node
	Workloads  []*Workload
}

// Rows lists all rows as of one moment, each kind by ID.
func (s *Store) Rows() *Rows {
	at := s.Snapshot()
	st := at.current.Load()
	return &Rows{
		Index: st.index, Seq: st.seq, Arrivals: st.arrivals,
		Namespaces: slices.Collect(at.Namespaces()),
		Groups:     slices.Collect(at.Groups()),
		Budgets:    slices.Collect(at.Budgets()),
		Objects:    slices.Collect(scan[Object](&at.Reader, ObjectKind, idIndex)),
		Nodes:      slices.Collect(at.Nodes()),
		Workloads:  slices.Collect(at.Workloads()),
	}
}

// Load returns a store with these rows. They must be those of a store.
func Load(r *Rows) *Store {
	s := New()
	t := s.Begin()
	load(t, NamespaceKind, slices.Values(r.Namespaces), func(row *Namespace) string { return row.Namespace.Name })
	load(t, GroupKind, slices.Values(r.Groups), func(row *Group) string { return row.Group.ID })
	load(t, BudgetKind, slices.Values(r.Budgets), func(row *Budget) string { return row.Budget.ID })
	load(t, ObjectKind, slices.Values(r.Objects), func(row *Object) string { return objectKey(row.Ref()) })
	load(t, NodeKind, slices.Values(r.Nodes), func(row *Node) string { return row.Node.Name })
	load(t, WorkloadKind, slices.Values(r.Workloads), func(row *Workload) string { return row.Info.ID })
	t.Commit()
	loaded := s.current.Load() // without rows there was nothing to commit
	s.current.Store(&state{tables: loaded.tables, recent: loaded.recent, numbers: numbers{r.Index, r.Seq, r.Arrivals}})
	return s
}

func load[R any](t *Txn, k Kind, rows iter.Seq[*R], id func(*R) string) {
	for row := range rows {
		t.put(k, id(row), nil, row)
	}
}
