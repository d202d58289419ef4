package coscheduling

import (
	"sync"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// arrivals are the times that stand for groups in the queue's order. What was
// said once of a group is said for as long as it has members, for the order must
// not change under those that are in the queue.
type arrivals struct {
	mu      sync.Mutex
	byGroup map[string]time.Time
	swept   int
}

// of returns the time of the member's group: its creation or, for one that is
// not there or does not say, when the first member that was asked about came.
func (a *arrivals) of(q *extpoints.Queued, view func() extpoints.ClusterView) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := q.Workload.Group
	if at, known := a.byGroup[id]; known {
		return at
	}
	groups, at := view().Groups(), q.AddedAt
	if g := groups.Get(id); g != nil && !g.CreatedAt.IsZero() {
		at = g.CreatedAt
	}
	if a.byGroup == nil {
		a.byGroup = map[string]time.Time{}
	}
	sweep(groups, a.byGroup, &a.swept)
	a.byGroup[id] = at
	return at
}
