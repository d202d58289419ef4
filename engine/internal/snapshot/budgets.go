package snapshot

import (
	"slices"
	"strings"

	"github.com/berth-project/berth/model"
)

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

// RemoveBudget removes the budget with the ID, if there is one.
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
