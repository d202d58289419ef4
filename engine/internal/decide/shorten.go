package decide

import (
	"slices"
	"sort"
	"time"

	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/extpoints"
)

// shorten lets a workload by itself that was rejected start with a shorter limit, if it
// agrees to one with which it fits. It returns the cycle that the attempt has from now on.
//
// What a shorter limit changes is what begins, or is to start, while the workload runs: so
// only limits are tried with which it ends at such a moment. One that is shorter than another
// that fits is in the way of nothing more, and the longest is found by halving.
func (a *Attempt) shorten(c *Cycle) *Cycle {
	w := c.Info
	limits := a.d.shorter(a.Now, c)
	fitting := sort.Search(len(limits), func(i int) bool { return !a.d.fitsFor(limits[i], a.Now, c) })
	if fitting == 0 {
		return c
	}
	granted := a.d.newCycle(a.Now, withLimit(w, limits[fitting-1]), a.port, extpoints.CycleOptions{})
	granted.Result = granted.Decide()
	a.Result.Members[0], a.run = granted, granted.run
	return granted
}

// shorter are the limits that are worth trying for the workload of the cycle, the shortest
// first.
func (d *Decider) shorter(now time.Time, c *Cycle) []time.Duration {
	if c.Info.MinLimit == 0 {
		return nil
	}
	var limits []time.Duration
	for _, at := range append(timeline.Boundaries(c.View.Holds(), now), d.Starts...) {
		if limit := at.Sub(now); limit >= c.Info.MinLimit && limit < c.Info.Limit {
			limits = append(limits, limit)
		}
	}
	slices.Sort(limits)
	return slices.Compact(limits)
}

// fitsFor reports whether the workload of the cycle would fit with the limit.
func (d *Decider) fitsFor(limit time.Duration, now time.Time, c *Cycle) bool {
	try := fitter{d: d, present: d.present}.on(c.View, d.Refuse)
	try.Answers = d.Answers // extenders' are recorded, as in any attempt
	return try.newCycle(now, withLimit(c.Info, limit), nil, extpoints.CycleOptions{}).Decide() == nil
}

// withLimit is the workload as it is tried with the limit.
func withLimit(w *extpoints.WorkloadInfo, limit time.Duration) *extpoints.WorkloadInfo {
	short := *w
	short.GrantedLimit = limit
	return &short
}
