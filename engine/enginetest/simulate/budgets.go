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

// exceeded reports whether the victims are more than some budget allows.
func (s *sim) exceeded(victims []extpoints.Eviction) bool {
	for b := range s.raw.View().Budgets() {
		var n int32
		for _, e := range victims {
			if row, ok := s.row(e.ID); ok && protects(b.Budget, row.Workload) {
				n++
			}
		}
		if n > b.Allowed {
			return true
		}
	}
	return false
}
