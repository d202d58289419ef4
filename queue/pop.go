package queue

import "time"

// Pop takes out the workload that is to be scheduled next, false if there is
// none now. Where nothing is active it is the one whose backoff ends first,
// if Timing.NoPopFromBackoff is off; never one that backs off from an error, nor where the
// order is by queues, which have to let it out.
// The workload is in flight until Done, or AddUnschedulable, is called for it.
// For the item of a tree of groups that goes for each member, and AddAttempted
// ends the attempt; members that are in flight already are not among them.
func (q *Queue) Pop(now time.Time) (*Item, bool) { return q.PopBy(now, nil) }

// PopBy is Pop with another order among the active items; nil: their own. It looks at all
// of them.
func (q *Queue) PopBy(now time.Time, less func(a, b *Item) bool) (*Item, bool) {
	return q.popNext(now, func() *Item { return q.popBy(now, less) })
}

// PopItem is Pop of an active item out of its order. Where it turns out that there is nothing to
// try about it, Pop goes on with the next.
func (q *Queue) PopItem(now time.Time, it *Item) (*Item, bool) {
	return q.popNext(now, func() *Item {
		if it.place != Active {
			return q.popActive(now)
		}
		q.active.remove(it)
		return it
	})
}

// popNext is Pop of what comes next of the active items.
func (q *Queue) popNext(now time.Time, next func() *Item) (*Item, bool) {
	for {
		why := labelled(popped, now)
		it := next()
		if it == nil && !q.cfg.NoPopFromBackoff && q.tree == nil {
			why = labelled(PopFromBackoffQ, now)
			it = q.backoff.pop()
		}
		if it == nil {
			return nil, false
		}
		it.Attempts++
		if it.Group != nil {
			if q.launch(it, why) {
				return it, true
			}
			continue
		}
		if q.inFlight.adopt(it) {
			q.settle(it, None, labelled(discarded, now))
			continue
		}
		q.inFlight.start(it)
		q.settle(it, InFlight, why)
		return it, true
	}
}

// popBy takes out the first of the active items, by another order than their own where one
// is given.
func (q *Queue) popBy(now time.Time, less func(a, b *Item) bool) *Item {
	if less == nil {
		return q.popActive(now)
	}
	it := q.active.first()
	if it == nil {
		return q.popActive(now)
	}
	for _, other := range q.active.all() {
		if less(other, it) || !less(it, other) && q.before(other, it) {
			it = other
		}
	}
	q.active.remove(it)
	return it
}

// Before is the order of the active items.
func (q *Queue) Before(a, b *Item) bool { return q.before(a, b) }
