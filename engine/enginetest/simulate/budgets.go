package simulate

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// rank is the priority that protects the workload: that of its highest group,
// where it is a member of one.
func (s *sim) rank(w *model.WorkloadRecord) int32 {
	priority := w.Priority
	for at := w.Group; at != ""; {
		g, known := s.raw.View().Group(at)
		if !known {
			break // the highest that is there counts
		}
		priority, at = g.Priority, g.Parent
	}
	return priority
}

// protected reports whether some budget speaks of the workload.
func (s *sim) protected(w *model.WorkloadRecord) bool {
	for b := range s.raw.View().Budgets() {
		if protects(b.Budget, w.Workload) {
			return true
		}
	}
	return false
}

func protects(b *model.Budget, w *model.Workload) bool {
	return b.Namespace == w.Namespace && b.Selector != nil && len(b.Selector.Requirements) > 0 &&
		b.Selector.Matches(w.Labels) && !slices.Contains(b.Displaced, w.ID)
}

// spent is how many that the budget protects the engine has displaced since the budget was
// reported and that have not left yet.
func (s *sim) spent(b *model.Budget) (n int32) {
	for _, id := range s.rowsWhere(func(w *model.WorkloadRecord) bool { return w.Phase == model.Terminating }) {
		if row, _ := s.row(id); s.evictedAt[id] >= max(1, s.budgetAt[b.ID]) && protects(b, row.Workload) {
			n++
		}
	}
	return n
}

// budgetsAllow reports whether some budget allows that somebody is displaced whom it protects, or it is not known
// yet, since evictions are under way.
func (s *sim) budgetsAllow() bool {
	if slices.ContainsFunc(s.tasks, func(t *simTask) bool { return t.evicts || t.stopped }) {
		return true
	}
	for b := range s.raw.View().Budgets() {
		protected := s.rowsWhere(func(w *model.WorkloadRecord) bool { return isPlaced(w) && protects(b.Budget, w.Workload) })
		if len(protected) > 0 && b.Allowed > s.spent(b.Budget) {
			return true
		}
	}
	return false
}

// exceeded reports whether some of the victims are more than a budget allows that protects them, after
// those that were displaced since it was reported.
func (s *sim) exceeded(victims []extpoints.Eviction) bool {
	for b := range s.raw.View().Budgets() {
		n := int32(0)
		for _, e := range victims {
			if row, ok := s.row(e.ID); ok && protects(b.Budget, row.Workload) {
				n++
			}
		}
		if n > 0 && n+s.spent(b.Budget) > b.Allowed {
			return true
		}
	}
	return false
}
