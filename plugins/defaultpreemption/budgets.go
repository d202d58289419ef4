package defaultpreemption

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// budgets counts what budgets still allow.
type budgets struct {
	list []*model.Budget // those that protect something
	left []int32         // of each
}

// newBudgets leaves out the budgets that protect nothing: a selector without
// requirements does not, unlike elsewhere.
func newBudgets(all []*model.Budget) budgets {
	var b budgets
	for _, budget := range all {
		if budget.Selector != nil && len(budget.Selector.Requirements) > 0 {
			b.list = append(b.list, budget)
		}
	}
	b.left = make([]int32, len(b.list))
	return b
}

// reset begins to count anew.
func (b *budgets) reset() {
	for i, budget := range b.list {
		b.left[i] = budget.Allowed
	}
}

// violates counts the workload against the budgets, in their order, up to the
// first that does not allow it, and reports whether there is one. Those behind
// it do not count it. A workload without labels is protected by none, and one
// that a budget knows to be terminating costs it nothing.
//
// Rules: kube-scheduler framework/preemption/util.go
// FilterVictimsWithPDBViolation, 1.37.1.
func (b *budgets) violates(w *extpoints.WorkloadInfo) bool {
	if len(w.Labels) == 0 {
		return false
	}
	for i, budget := range b.list {
		if budget.Namespace != w.Namespace || !budget.Selector.Matches(w.Labels) || slices.Contains(budget.Displaced, w.ID) {
			continue
		}
		b.left[i]--
		if b.left[i] < 0 {
			return true
		}
	}
	return false
}

// split tells the possible victims of which some workload is not allowed by a
// budget from the others, in the memory of the lists given; each workload counts
// against the budgets as if all before it had left.
func (b *budgets) split(list, violating, allowed []*unit) (v, a []*unit) {
	violating, allowed = violating[:0], allowed[:0]
	if len(b.list) == 0 {
		return violating, append(allowed, list...)
	}
	b.reset()
	for _, u := range list {
		u.breaks = b.forbidden(u)
		if u.breaks > 0 {
			violating = append(violating, u)
		} else {
			allowed = append(allowed, u)
		}
	}
	return violating, allowed
}

// forbidden counts the workloads that some budget does not allow.
func (b *budgets) forbidden(u *unit) (n int) {
	if !u.whole() {
		if b.violates(u.WorkloadInfo) {
			n++
		}
		return n
	}
	for i := range u.bond.members {
		if b.violates(u.bond.members[i].WorkloadInfo) {
			n++
		}
	}
	return n
}
