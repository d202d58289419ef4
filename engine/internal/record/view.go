package record

import (
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Commit ends the transaction, lets the view follow, and returns what is different
// now: one fact for each row, in the order in which the rows were first written.
func (r *Record) Commit(tx *store.Txn) []store.Change {
	facts := tx.Commit()
	for i := range facts {
		r.follow(&facts[i])
	}
	return facts
}

// follow brings the view up to date with one fact.
func (r *Record) follow(ch *store.Change) {
	switch ch.Kind {
	case store.NodeKind:
		// A node that went and came back has lost its place in the order.
		if ch.NewNode == nil || ch.OldNode != nil && ch.OldNode.Seq != ch.NewNode.Seq {
			r.View.RemoveNode(ch.OldNode.Node.Name)
		}
		if ch.NewNode != nil {
			r.View.PutNode(ch.NewNode.Node)
		}
	case store.WorkloadKind:
		r.patchPlace(ch.OldWorkload, ch.NewWorkload)
		r.patchNomination(ch.OldWorkload, ch.NewWorkload)
		r.patchMember(ch.OldWorkload, ch.NewWorkload)
	case store.GroupKind:
		if ch.NewGroup != nil {
			r.View.PutGroup(ch.NewGroup.Group)
		} else {
			r.View.RemoveGroup(ch.OldGroup.Group.ID)
		}
	case store.BudgetKind:
		if ch.NewBudget != nil {
			r.View.PutBudget(ch.NewBudget.Left())
		} else {
			r.View.RemoveBudget(ch.OldBudget.Budget.ID)
		}
	case store.NamespaceKind:
		if ch.NewNamespace != nil {
			r.View.PutNamespace(ch.NewNamespace.Namespace)
		} else {
			r.View.RemoveNamespace(ch.OldNamespace.Namespace.Name)
		}
	case store.ObjectKind:
		r.patchObject(ch.OldObject.Current(), ch.NewObject.Current())
	}
}

func (r *Record) patchObject(before, after model.Object) {
	switch {
	case before == after:
	case after != nil:
		r.View.PutObject(after)
	default:
		r.View.RemoveObject(before)
	}
}

func (r *Record) patchPlace(before, after *store.Workload) {
	from, to := before.TakesRoomOn(), after.TakesRoomOn()
	switch {
	case from == "" && to == "":
	case from == "":
		r.View.Place(after.Info, to)
	case to == "":
		r.View.Unplace(before.Info.ID, from)
	case from != to:
		r.View.Unplace(before.Info.ID, from)
		r.View.Place(after.Info, to)
	case before.Info != after.Info, before.Phase != model.Confirmed && after.Phase == model.Confirmed:
		// To be confirmed is to be put there once more: it refreshes the node's
		// image counts and moves the workload to the end, which the reference's
		// AddPod does to one that was assumed.
		r.View.Replace(after.Info, to)
	}
}

func (r *Record) patchNomination(before, after *store.Workload) {
	from, to := before.NominatedTo(), after.NominatedTo()
	if from == to && (from == "" || before.Info == after.Info) {
		return
	}
	if from != "" {
		r.View.Unnominate(before.Info.ID, from)
	}
	if to != "" {
		r.View.Nominate(after.Info, to)
	}
}

// patchMember keeps the members of groups by whether they are on a node.
func (r *Record) patchMember(before, after *store.Workload) {
	if before != nil && before.Info.Group != "" {
		switch {
		case after != nil && before.Info == after.Info && before.Phase == after.Phase:
			return
		case before.TakesRoomOn() != "":
			r.View.UnplaceMember(before.Info)
		case before.Phase == model.Pending:
			r.View.UnawaitMember(before.Info)
		}
	}
	if after != nil && after.Info.Group != "" {
		switch {
		case after.TakesRoomOn() != "":
			r.View.PlaceMember(after.Info, after.Node)
		case after.Phase == model.Pending:
			r.View.AwaitMember(after.Info)
		}
	}
}

// Occupy puts the workload on the node of the binding, in the view only, with what
// was decided for it.
func (r *Record) Occupy(w *extpoints.WorkloadInfo, b *model.Binding, now time.Time) {
	placed := &extpoints.WorkloadInfo{Workload: w.Workload, Shares: b.Devices, GrantedLimit: b.Limit, PlacedAt: now}
	if w.Nominated != "" {
		r.View.Unnominate(w.ID, w.Nominated)
	}
	r.View.Place(placed, b.Node)
	for _, o := range b.Decided {
		r.View.PutObject(o)
	}
	if w.Group != "" {
		r.View.MoveMember(placed, b.Node)
	}
}
