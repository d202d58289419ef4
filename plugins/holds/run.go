package holds

import (
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// run is when a workload runs: until is not part of it, and zero for ever.
type run struct{ from, until time.Time }

// runOf is when a workload runs that is placed now, or has been before.
func runOf(now time.Time, w *extpoints.WorkloadInfo) run {
	r := run{from: now}
	if !w.PlacedAt.IsZero() {
		r.from = w.PlacedAt // a plan asks whether it may stay at a later time
	}
	if limit := w.RunLimit(); limit > 0 {
		r.until = r.from.Add(limit)
	}
	return r
}

// overlaps reports whether it runs while the hold is on.
func (r run) overlaps(h *model.Hold) bool { return before(r.from, h.Until) && before(h.From, r.until) }

// before reports whether a beginning is before an end.
func before(from, until time.Time) bool { return until.IsZero() || from.Before(until) }

// allowed reports whether the hold lets in a workload with the labels that runs then.
func (r run) allowed(h *model.Hold, labels map[string]string) bool {
	if !h.Users.Matches(labels) {
		return false
	}
	return h.Flex || !r.from.Before(h.From) && (h.Until.IsZero() || !r.until.IsZero() && !r.until.After(h.Until))
}

// lasts reports whether what is on a node now is still there at the moment, as far as is known: what runs
// over its limit is.
func (r run) lasts(now, at time.Time) bool {
	return before(at, r.until) || !before(now, r.until) || at.Equal(now)
}

// interval says when the hold is on.
func interval(h *model.Hold) (when string) {
	if !h.From.IsZero() {
		when = " from " + h.From.UTC().Format(time.RFC3339)
	}
	if h.Until.IsZero() {
		return when + " for ever"
	}
	return when + " until " + h.Until.UTC().Format(time.RFC3339)
}
