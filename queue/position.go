package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Position says where a workload is in the queue, and why. The fields are
// explained in [Item]. A member that waits with its tree of groups has the
// tree's counts, backoff and place; the rest is its own, but it has the tree's
// gate where it is not gated itself.
type Position struct {
	ID string
	// Group is the ID of the highest group of the tree of which it is a member;
	// empty for a workload of its own, and while it is not known.
	Group string
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
	p := Position{
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
	}
	tree := it.entity
	if tree == nil {
		return p, true
	}
	p.Group = tree.ID()
	if it.leaf != nil {
		p.UnschedulableCount, p.ConsecutiveErrors = tree.UnschedulableCount, tree.ConsecutiveErrors
		p.BackoffExpiration = tree.BackoffExpiration
		if p.Gate == nil {
			p.GatingPlugin, p.Gate = tree.GatingPlugin, tree.Gate
		}
	}
	return p, true
}

// Counts says how many workloads are in each place, members of groups included.
type Counts struct {
	Active, Backoff, ErrorBackoff, Unschedulable, Gated, InFlight int
	Incomplete, Joining                                           int
	// Events is how many events are remembered for the workloads in flight.
	Events int
}

// Counts counts. It takes no longer with more workloads.
func (q *Queue) Counts() Counts {
	count := func(p Place, items int) int { return items - q.items[p] + q.members[p] }
	return Counts{
		Active:        count(Active, q.active.len()),
		Backoff:       count(Backoff, q.backoff.len()),
		ErrorBackoff:  count(ErrorBackoff, q.errorBackoff.len()),
		Unschedulable: count(Unschedulable, q.unschedulable.timeouts.len()-q.unschedulable.gated),
		Gated:         count(Gated, q.unschedulable.gated),
		InFlight:      len(q.inFlight.byID),
		Incomplete:    q.members[Incomplete],
		Joining:       q.members[Joining],
		Events:        len(q.inFlight.log),
	}
}

// Items lists what is in a place, for inspection: the active ones and those
// that back off in the order in which they would be popped (by arrival where
// the order leaves it open), the unschedulable and gated ones in the order in which
// they came there, those in flight in the order in which they were popped. A
// tree of groups is one item, but incomplete and joining members, and those in
// flight, are items of their own; the former in the order in which they came
// there.
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
			return compareArrival(a, b)
		})
	case Unschedulable, Gated:
		for _, it := range q.unschedulable.timeouts.items {
			if it.place == p {
				items = append(items, it)
			}
		}
		slices.SortFunc(items, func(a, b *Item) int { return cmp.Compare(a.seq, b.seq) })
	case Incomplete, Joining:
		for _, it := range q.waiting {
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
