package queue

import (
	"math"
	"time"
)

// Backoff (kube-scheduler pkg/scheduler/backend/queue/backoff_queue.go, 1.37.1)
// runs from the failure, wherever the workload spends the time. So one that was
// unschedulable for longer than its backoff is active as soon as it is woken.

// backoffFor is the length of the backoff after the count-th failure: the
// initial one doubled count-1 times, at most the longest, which is longer for
// many members.
func (q *Queue) backoffFor(count, members int) time.Duration {
	longest := q.cfg.MaxBackoff
	if members > 1 {
		longest = time.Duration(float64(longest) * math.Sqrt(float64(members)))
	}
	shift := count - 1
	// Compared this way round since the shift to the left could overflow.
	if q.cfg.InitialBackoff > longest>>shift {
		return longest
	}
	return q.cfg.InitialBackoff << shift
}

// expiration is when the backoff of an item that has just failed ends; zero
// where backoff is off, and for one that was never tried.
func (q *Queue) expiration(it *Item) time.Time {
	if q.cfg.MaxBackoff == NoBackoff {
		return time.Time{}
	}
	count := it.UnschedulableCount
	if it.ConsecutiveErrors > 0 {
		count = it.ConsecutiveErrors
	}
	if count == 0 {
		return time.Time{}
	}
	return q.align(it.Timestamp.Add(q.backoffFor(count, len(it.Members))))
}

// align cuts a time to the window it is in, where windows matter.
func (q *Queue) align(t time.Time) time.Time {
	if q.cfg.NoPopFromBackoff {
		return t
	}
	return t.Truncate(q.cfg.OrderingWindow)
}

// backingOff reports whether an item must still wait. The window in which the
// backoff ends belongs to it.
func (q *Queue) backingOff(it *Item, now time.Time) bool {
	return !it.BackoffExpiration.IsZero() && !it.BackoffExpiration.Before(q.align(now))
}

// toBackoff puts an item that has been taken out of its place where it waits
// for the end of its backoff, unless a gate turns it away. With popping from
// backoff on, the gates are asked here, since nobody asks them again later.
func (q *Queue) toBackoff(it *Item, why cause) {
	if !q.cfg.NoPopFromBackoff && !q.pass(it) {
		q.park(it, why)
		return
	}
	place := Backoff
	if !it.rejected() { // trees of groups never are; kube-scheduler has them here too
		place = ErrorBackoff
	}
	q.heapOf(place).push(it)
	q.settle(it, place, why)
}

// flushBackoff makes active what has completed its backoff before the window
// that now is in.
func (q *Queue) flushBackoff(now time.Time) {
	window := now.Truncate(q.cfg.OrderingWindow)
	for _, h := range []*heap{&q.backoff, &q.errorBackoff} {
		for it := h.first(); it != nil && it.BackoffExpiration.Before(window); it = h.first() {
			h.pop()
			q.picked = append(q.picked, it)
		}
	}
	for _, it := range q.picked {
		q.toActive(it, labelled(BackoffComplete, now), q.gatesAfterBackoff())
	}
	q.release()
}

func expiresBefore(a, b *Item) bool { return a.BackoffExpiration.Before(b.BackoffExpiration) }
