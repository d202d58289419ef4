package coscheduling

import (
	"strings"
	"sync"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Less puts the higher priority first. Of equal ones the members of a group stay
// together, in the place that the group has by the time of its creation and then
// by its ID, and among themselves by timestamp; a workload without a group has
// its place by its own timestamp.
func (p *Coscheduling) Less(a, b *extpoints.Queued) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	one, other := a.Workload.Group, b.Workload.Group
	if one != other {
		if c := p.place(a).Compare(p.place(b)); c != 0 {
			return c < 0
		}
		return strings.Compare(one, other) < 0
	}
	return a.Timestamp.Before(b.Timestamp)
}

// place is the time that stands for the workload in the order.
func (p *Coscheduling) place(q *extpoints.Queued) time.Time {
	if q.Workload.Group == "" {
		return q.Timestamp
	}
	return p.since.of(q, p.handle.View)
}

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
func (a *arrivals) of(q *extpoints.Queued, view func() extpoints.View) time.Time {
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
