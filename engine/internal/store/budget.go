package store

import (
	"slices"

	"github.com/berth-project/berth/model"
)

// Left is the budget less what the engine has done since it was reported: each workload
// that it has displaced is one less that is allowed, and is among those that were counted.
func (b *Budget) Left() *model.Budget {
	if len(b.Spent) == 0 {
		return b.Budget
	}
	left := *b.Budget
	left.Allowed -= min(left.Allowed, int32(len(b.Spent)))
	left.Displaced = slices.Concat(left.Displaced, b.Spent)
	return &left
}

// protects reports whether the budget is about the workload.
func (b *Budget) protects(w *model.Workload) bool {
	s := b.Budget.Selector
	return b.Budget.Namespace == w.Namespace && s != nil && len(s.Requirements) > 0 && len(w.Labels) > 0 && s.Matches(w.Labels)
}

// Displaced notes in all budgets that protect the workload that it is displaced, so that
// they allow one less until they are reported anew; it returns whether there are any. What
// a budget knows already costs it nothing.
func (t *Txn) Displaced(w *model.Workload) (noted bool) {
	for _, old := range slices.Collect(t.Budgets()) {
		if !old.protects(w) || slices.Contains(old.Budget.Displaced, w.ID) || slices.Contains(old.Spent, w.ID) {
			continue
		}
		t.spent(old, append(slices.Clone(old.Spent), w.ID))
		noted = true
	}
	return noted
}

// Stays takes that back, for a workload that is not to be displaced after all; it returns
// whether any budget had noted it.
func (t *Txn) Stays(id string) (noted bool) {
	for _, old := range slices.Collect(t.Budgets()) {
		if i := slices.Index(old.Spent, id); i >= 0 {
			t.spent(old, slices.Delete(slices.Clone(old.Spent), i, i+1))
			noted = true
		}
	}
	return noted
}

func (t *Txn) spent(old *Budget, ids []string) {
	row := *old
	if row.Spent = ids; len(ids) == 0 {
		row.Spent = nil
	}
	row.ModifyIndex = t.index
	putRow(t, BudgetKind, old.Budget.ID, old, &row)
}
