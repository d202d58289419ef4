package queue

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Position says where a workload is in the queue, and why. The fields are
// explained in [Item].
type Position struct {
	ID    string
	Place Place

	Attempts           int
	UnschedulableCount int
	ConsecutiveErrors  int

	UnschedulablePlugins []string
	PendingPlugins       []string
	GatingPlugin         string
	Gate                 *extpoints.Status

	AddedAt           time.Time
	Timestamp         time.Time
	BackoffExpiration time.Time
	Flushed           bool
}

// Position reports where the workload is; false if it is not in the queue.
func (q *Queue) Position(id string) (Position, bool) {
	it := q.waiting[id]
	if it == nil {
		it = q.inFlight.byID[id]
	}
	if it == nil {
		return Position{}, false
	}
	return Position{
		ID:                   id,
		Place:                it.place,
		Attempts:             it.Attempts,
		UnschedulableCount:   it.UnschedulableCount,
		ConsecutiveErrors:    it.ConsecutiveErrors,
		UnschedulablePlugins: slices.Clone(it.UnschedulablePlugins),
		PendingPlugins:       slices.Clone(it.PendingPlugins),
		GatingPlugin:         it.GatingPlugin,
		Gate:                 it.Gate,
		AddedAt:              it.AddedAt,
		Timestamp:            it.Timestamp,
		BackoffExpiration:    it.BackoffExpiration,
		Flushed:              it.Flushed,
	}, true
}

// Counts says how many workloads are in each place.
type Counts struct {
	Active, Backoff, ErrorBackoff, Unschedulable, Gated, InFlight int
	// Events is how many events are remembered for the workloads in flight.
	Events int
}

// Counts counts. It takes no longer with more workloads.
func (q *Queue) Counts() Counts {
	return Counts{
		Active:        q.active.len(),
		Backoff:       q.backoff.len(),
		ErrorBackoff:  q.errorBackoff.len(),
		Unschedulable: q.unschedulable.timeouts.len() - q.unschedulable.gated,
		Gated:         q.unschedulable.gated,
		InFlight:      len(q.inFlight.byID),
		Events:        len(q.inFlight.log),
	}
}

// Items lists what is in a place, for inspection: the active ones and those
// that back off in the order in which they would be popped (by ID where the
// order leaves it open), the unschedulable and gated ones in the order in which
// they came there, those in flight in the order in which they were popped.
func (q *Queue) Items(p Place) []*Item {
	var items []*Item
	switch p {
	case Active, Backoff, ErrorBackoff:
		h := q.heapOf(p)
		items = slices.Clone(h.items)
		slices.SortFunc(items, func(a, b *Item) int {
			switch {
			case h.less(a, b):
				return -1
			case h.less(b, a):
				return +1
			}
			return strings.Compare(a.ID(), b.ID())
		})
	case Unschedulable, Gated:
		for _, it := range q.unschedulable.timeouts.items {
			if it.place == p {
				items = append(items, it)
			}
		}
		slices.SortFunc(items, func(a, b *Item) int { return cmp.Compare(a.seq, b.seq) })
	case InFlight:
		for it := q.inFlight.first; it != nil; it = it.flight.next {
			items = append(items, it)
		}
	}
	return items
}
