package queue

import (
	"cmp"
	"slices"
)

// listed lists what is in a place: the active ones and those
// that back off in the order in which they would be popped (by arrival where
// the order leaves it open), the unschedulable and gated ones in the order in which
// they came there, those in flight in the order in which they were popped. A
// tree of groups is one item, but incomplete and joining members, and those in
// flight, are items of their own; the former in the order in which they came
// there.
func (q *Queue) listed(p Place) []*Item {
	var items []*Item
	switch p {
	case Active, Backoff, ErrorBackoff:
		h := q.heapOf(p).(*heap)
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
