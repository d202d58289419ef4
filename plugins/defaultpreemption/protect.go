package defaultpreemption

import (
	"time"

	"github.com/berth-project/berth/model"
)

// protects reports whether what was placed at the time must not be displaced now by what
// has the priority. What has no time was placed now.
//
// Rule: kubernetes-sigs/scheduler-plugins pkg/preemptiontoleration, ExemptedFromPreemption,
// commit 903da7df.
func protects(t *model.PreemptionToleration, priority int32, placed, now time.Time) bool {
	if priority >= t.MinPriority {
		return false
	}
	if placed.IsZero() {
		placed = now
	}
	return t.For < 0 || placed.Add(t.For).After(now)
}
