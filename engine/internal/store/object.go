package store

import "github.com/berth-project/berth/model"

// PutNode adds the node, or puts it in place of the one of the same name, which
// keeps its order of arrival.
func (t *Txn) PutNode(n *model.Node, expect ...Expect) error {
	old := t.Node(n.Name)
	row := &Node{Node: n, CreateIndex: t.index, ModifyIndex: t.index}
	var found uint64
	if old != nil {
		row.Seq, row.CreateIndex, found = old.Seq, old.CreateIndex, old.ModifyIndex
	}
	if err := t.mayPut(NodeKind, n.Name, found, expect); err != nil {
		return err
	}
	if old == nil {
		t.seq++
		row.Seq = t.seq
	}
	putRow(t, NodeKind, n.Name, old, row)
	return nil
}

// DeleteNode deletes the node. Workloads on it stay as they are, with its name:
// a node of that name that comes back finds them, and until then it is for the
// caller to decide about them.
func (t *Txn) DeleteNode(name string, expect ...Expect) error {
	old := t.Node(name)
	if old == nil {
		return notFound(NodeKind, name)
	}
	if err := met(expect, NodeKind, name, old.ModifyIndex); err != nil {
		return err
	}
	t.remove(NodeKind, name, old)
	return nil
}

// PutGroup adds the group, or puts it in place of the one of the same ID.
func (t *Txn) PutGroup(g *model.Group, expect ...Expect) error {
	old := t.Group(g.ID)
	row := &Group{Group: g, CreateIndex: t.index, ModifyIndex: t.index}
	var found uint64
	if old != nil {
		row.CreateIndex, found = old.CreateIndex, old.ModifyIndex
	}
	if err := t.mayPut(GroupKind, g.ID, found, expect); err != nil {
		return err
	}
	putRow(t, GroupKind, g.ID, old, row)
	return nil
}

// DeleteGroup deletes the group. Its members stay, and stay its members.
func (t *Txn) DeleteGroup(id string, expect ...Expect) error {
	old := t.Group(id)
	if old == nil {
		return notFound(GroupKind, id)
	}
	if err := met(expect, GroupKind, id, old.ModifyIndex); err != nil {
		return err
	}
	t.remove(GroupKind, id, old)
	return nil
}

// PutBudget adds the budget, or puts it in place of the one of the same ID.
func (t *Txn) PutBudget(b *model.Budget, expect ...Expect) error {
	old := t.Budget(b.ID)
	row := &Budget{Budget: b, CreateIndex: t.index, ModifyIndex: t.index}
	var found uint64
	if old != nil {
		row.CreateIndex, found = old.CreateIndex, old.ModifyIndex
	}
	if err := t.mayPut(BudgetKind, b.ID, found, expect); err != nil {
		return err
	}
	putRow(t, BudgetKind, b.ID, old, row)
	return nil
}

// DeleteBudget deletes the budget.
func (t *Txn) DeleteBudget(id string, expect ...Expect) error {
	old := t.Budget(id)
	if old == nil {
		return notFound(BudgetKind, id)
	}
	if err := met(expect, BudgetKind, id, old.ModifyIndex); err != nil {
		return err
	}
	t.remove(BudgetKind, id, old)
	return nil
}

// PutNamespace adds the namespace, or puts it in place of the one of the same
// name.
func (t *Txn) PutNamespace(n *model.Namespace, expect ...Expect) error {
	old := t.Namespace(n.Name)
	row := &Namespace{Namespace: n, CreateIndex: t.index, ModifyIndex: t.index}
	var found uint64
	if old != nil {
		row.CreateIndex, found = old.CreateIndex, old.ModifyIndex
	}
	if err := t.mayPut(NamespaceKind, n.Name, found, expect); err != nil {
		return err
	}
	putRow(t, NamespaceKind, n.Name, old, row)
	return nil
}

// DeleteNamespace deletes the namespace. Workloads in it stay.
func (t *Txn) DeleteNamespace(name string, expect ...Expect) error {
	old := t.Namespace(name)
	if old == nil {
		return notFound(NamespaceKind, name)
	}
	if err := met(expect, NamespaceKind, name, old.ModifyIndex); err != nil {
		return err
	}
	t.remove(NamespaceKind, name, old)
	return nil
}

// mayPut checks the name and the expectation; found is the index of the row
// that is there, 0 for none.
func (t *Txn) mayPut(k Kind, name string, found uint64, expect []Expect) error {
	if err := checkName(k, name); err != nil {
		return err
	}
	return met(expect, k, name, found)
}

// putRow is put for typed rows: a nil old row must become a nil interface.
func putRow[R any](t *Txn, k Kind, id string, old, row *R) {
	if old == nil {
		t.put(k, id, nil, row)
		return
	}
	t.put(k, id, old, row)
}

func notFound(k Kind, id string) error { return &RowError{Kind: k, ID: id, Err: ErrNotFound} }
