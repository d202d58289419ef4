package snapshot

import (
	"slices"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Nominate makes the workload the last of those that wait for room on the node,
// which need not be there. Where it waits for it already, the old one goes.
func (v *View) Nominate(w *extpoints.WorkloadInfo, node string) {
	list := withoutWorkload(v.Nominated(node), w.ID)
	v.nominated.set(v.own(), node, append(list, w))
}

// Unnominate ends the waiting of the workload of the ID for the node.
func (v *View) Unnominate(id, node string) {
	old := v.Nominated(node)
	switch list := withoutWorkload(old, id); len(list) {
	case len(old):
	case 0:
		v.nominated.unset(v.own(), node)
	default:
		v.nominated.set(v.own(), node, list)
	}
}

// withoutWorkload returns a copy of the list, with room for one more, from
// which the workload of the ID is missing.
func withoutWorkload(list []*extpoints.WorkloadInfo, id string) []*extpoints.WorkloadInfo {
	rest := make([]*extpoints.WorkloadInfo, 0, len(list)+1)
	for _, w := range list {
		if w.ID != id {
			rest = append(rest, w)
		}
	}
	return rest
}

// PutNamespace adds or replaces the namespace's object.
func (v *View) PutNamespace(ns *model.Namespace) { v.namespaces.set(v.own(), ns.Name, ns) }

// RemoveNamespace removes the namespace's object, if there is one.
func (v *View) RemoveNamespace(name string) { v.namespaces.unset(v.own(), name) }

// PutBudget adds or replaces the budget.
func (v *View) PutBudget(b *model.Budget) {
	i, found := v.budgetAt(b.ID)
	v.ownBudgets()
	if found {
		v.budgets[i] = b
	} else {
		v.budgets = slices.Insert(v.budgets, i, b)
	}
}

// RemoveBudget removes the budget of the ID, if there is one.
func (v *View) RemoveBudget(id string) {
	if i, found := v.budgetAt(id); found {
		v.ownBudgets()
		v.budgets = slices.Delete(v.budgets, i, i+1)
	}
}

func (v *View) budgetAt(id string) (int, bool) {
	return slices.BinarySearchFunc(v.budgets, id, func(b *model.Budget, id string) int {
		return strings.Compare(b.ID, id)
	})
}

func (v *View) ownBudgets() {
	if tok := v.own(); v.budgetsTok != tok {
		v.budgets, v.budgetsTok = slices.Clone(v.budgets), tok
	}
}
