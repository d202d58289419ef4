package store

// Change is the difference that a transaction made to one row. Of the pairs
// only that of the kind is set: no old row means that it was added, no new row
// that it was deleted. A node that was deleted and put again in the same
// transaction has both, with different Seq.
type Change struct {
	Kind Kind

	OldWorkload, NewWorkload   *Workload
	OldNode, NewNode           *Node
	OldGroup, NewGroup         *Group
	OldBudget, NewBudget       *Budget
	OldNamespace, NewNamespace *Namespace
	OldObject, NewObject       *Object
}

func (e *entry) change() Change {
	c := Change{Kind: e.kind}
	switch e.kind {
	case WorkloadKind:
		c.OldWorkload, _ = e.old.(*Workload)
		c.NewWorkload, _ = e.new.(*Workload)
	case NodeKind:
		c.OldNode, _ = e.old.(*Node)
		c.NewNode, _ = e.new.(*Node)
	case GroupKind:
		c.OldGroup, _ = e.old.(*Group)
		c.NewGroup, _ = e.new.(*Group)
	case BudgetKind:
		c.OldBudget, _ = e.old.(*Budget)
		c.NewBudget, _ = e.new.(*Budget)
	case NamespaceKind:
		c.OldNamespace, _ = e.old.(*Namespace)
		c.NewNamespace, _ = e.new.(*Namespace)
	case ObjectKind:
		c.OldObject, _ = e.old.(*Object)
		c.NewObject, _ = e.new.(*Object)
	}
	return c
}

// ID returns the ID or name of the row; for an object its kind, NUL and ID.
func (c *Change) ID() string {
	switch c.Kind {
	case WorkloadKind:
		return either(c.OldWorkload, c.NewWorkload).Info.ID
	case NodeKind:
		return either(c.OldNode, c.NewNode).Node.Name
	case GroupKind:
		return either(c.OldGroup, c.NewGroup).Group.ID
	case BudgetKind:
		return either(c.OldBudget, c.NewBudget).Budget.ID
	case ObjectKind:
		return objectKey(either(c.OldObject, c.NewObject).Ref())
	default:
		return either(c.OldNamespace, c.NewNamespace).Namespace.Name
	}
}

func either[R any](a, b *R) *R {
	if a != nil {
		return a
	}
	return b
}

type entry struct {
	rowKey
	old, new any // rows; nil for none
}

type rowKey struct {
	kind Kind
	id   string
}
