package store

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Kind is a kind of row.
type Kind uint8

// The kinds, in the order of the tables.
const (
	WorkloadKind Kind = iota
	NodeKind
	GroupKind
	BudgetKind
	NamespaceKind
	ObjectKind

	kinds
)

var kindNames = [kinds]string{"workload", "node", "group", "budget", "namespace", "object"}

// String returns the kind's name, which is the name of its table too.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "kind(invalid)"
}

// Workload is the row of a workload. Like every row it is never changed in
// place: a write puts a changed copy in its stead, so a row that was
// read may be kept and read on any goroutine.
type Workload struct {
	// Info is the spec, shared by all the rows that the workload ever has, and
	// what was set aside for it. A NodeInfo holds the same pointer. A write
	// that changes neither keeps the pointer.
	Info  *extpoints.WorkloadInfo
	Phase model.Phase
	// Node is the name of the node that it is on, empty where it is on none.
	// The node need not be there: it may have been removed under the workload.
	Node string
	// Decided are the objects that the decision for it changed, and that are
	// held for it until it is settled or gone.
	Decided []model.ObjectRef
	// Asked: the orchestrator is being asked to make that true, see [Txn.Ask].
	Asked bool
	// Found: it is on a node that was not chosen for it here.
	Found bool
	// Seq is the order of arrival, also of those that one transaction made.
	Seq uint64
	// CreateIndex and ModifyIndex are the indexes of the transactions that
	// made the row and last wrote it.
	CreateIndex, ModifyIndex uint64
}

// TakesRoomOn is the node whose room the workload takes; empty where it takes none,
// and for a nil row.
func (w *Workload) TakesRoomOn() string {
	if w == nil || !w.Phase.TakesRoom() {
		return ""
	}
	return w.Node
}

// spec is the workload; nil for a nil row.
func (w *Workload) spec() *model.Workload {
	if w == nil {
		return nil
	}
	return w.Info.Workload
}

// NominatedTo is the node that the workload waits for; empty where it waits for none,
// and for a nil row.
func (w *Workload) NominatedTo() string {
	if w == nil || w.Phase != model.Pending {
		return ""
	}
	return w.Info.Nominated
}

// Node is the row of a node.
type Node struct {
	Node *model.Node
	// Seq is the order of arrival: kept when the node is put again, new when
	// it comes back after it was deleted.
	Seq                      uint64
	CreateIndex, ModifyIndex uint64
}

// Group is the row of a group.
type Group struct {
	Group                    *model.Group
	CreateIndex, ModifyIndex uint64
}

// Budget is the row of a budget.
type Budget struct {
	Budget *model.Budget // as it was reported
	// Spent are the IDs of the workloads that the engine has displaced since.
	Spent                    []string `json:",omitempty"`
	CreateIndex, ModifyIndex uint64
}

// Namespace is the row of a namespace.
type Namespace struct {
	Namespace                *model.Namespace
	CreateIndex, ModifyIndex uint64
}

// Object is the row of an object of storage or devices. It has three layers, and the
// highest that is there holds.
type Object struct {
	// Reported is the object as the orchestrator has reported it; nil for one
	// that a decision has made.
	Reported model.Object
	// Written is the object as the orchestrator was asked to make it, and may have, since
	// it was reported; nil where it was not asked. It takes the workloads of the decision
	// for gone: who has the object by a decision has it in Decided.
	Written model.Object
	// Decided is the object as decisions leave it, for the sake of the workloads
	// of the IDs; nil where there are none.
	Decided                  model.Object
	Workloads                []string
	CreateIndex, ModifyIndex uint64
}

// Current is the object as decisions have to take it; nil for a nil row.
func (o *Object) Current() model.Object {
	if o == nil {
		return nil
	}
	switch {
	case o.Decided != nil:
		return o.Decided
	case o.Written != nil:
		return o.Written
	}
	return o.Reported
}

// Ref names the object.
func (o *Object) Ref() model.ObjectRef { return refOf(o.Current()) }

func refOf(o model.Object) model.ObjectRef {
	return model.RefOf(o)
}

// Record returns the row as readers outside the engine see it.
func (o *Object) Record() model.ObjectRecord {
	return model.ObjectRecord{Object: o.Current(), Reported: o.Reported, Written: o.Written, CreateIndex: o.CreateIndex, ModifyIndex: o.ModifyIndex}
}

// Record returns the row as readers outside the engine see it.
func (w *Workload) Record() model.WorkloadRecord {
	return model.WorkloadRecord{
		Workload:     w.Info.Workload,
		Phase:        w.Phase,
		Node:         w.Node,
		Shares:       w.Info.Shares,
		Nominated:    w.Info.Nominated,
		PlacedAt:     w.Info.PlacedAt,
		GrantedLimit: w.Info.GrantedLimit,
		Displaced:    w.Info.Displaced,
		Seq:          w.Seq,
		CreateIndex:  w.CreateIndex,
		ModifyIndex:  w.ModifyIndex,
	}
}

// Record returns the row as readers outside the engine see it.
func (n *Node) Record() model.NodeRecord {
	return model.NodeRecord{Node: n.Node, CreateIndex: n.CreateIndex, ModifyIndex: n.ModifyIndex}
}

// Record returns the row as readers outside the engine see it.
func (g *Group) Record() model.GroupRecord {
	return model.GroupRecord{Group: g.Group, CreateIndex: g.CreateIndex, ModifyIndex: g.ModifyIndex}
}

// Record returns the row as readers outside the engine see it.
func (b *Budget) Record() model.BudgetRecord {
	return model.BudgetRecord{Budget: b.Budget, Spent: b.Spent, CreateIndex: b.CreateIndex, ModifyIndex: b.ModifyIndex}
}

// Record returns the row as readers outside the engine see it.
func (n *Namespace) Record() model.NamespaceRecord {
	return model.NamespaceRecord{Namespace: n.Namespace, CreateIndex: n.CreateIndex, ModifyIndex: n.ModifyIndex}
}
