package queue

import "time"

// Backoff (kube-scheduler pkg/scheduler/backend/queue/backoff_queue.go, 1.37.1)
// runs from the failure, wherever the workload spends the time. So one that was
// unschedulable for longer than its backoff is active as soon as it is woken.

// backoffFor is the length of the backoff after the count-th failure: the
// initial one doubled count-1 times, at most the longest.
func (q *Queue) backoffFor(count int) time.Duration {
	shift := count - 1
	// Compared this way round since the shift to the left could overflow.
	if q.cfg.InitialBackoff > q.cfg.MaxBackoff>>shift {
		return q.cfg.MaxBackoff
	}
	return q.cfg.InitialBackoff << shift
}

// expiration is when the backoff of an item that has just failed ends; zero
// where backoff is off.
func (q *Queue) expiration(it *Item) time.Time {
	if q.cfg.MaxBackoff == NoBackoff {
		return time.Time{}
	}
	count := it.UnschedulableCount
	if it.ConsecutiveErrors > 0 {
		count = it.ConsecutiveErrors
	}
	return q.align(it.Timestamp.Add(q.backoffFor(count)))
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
	if !it.rejected() {
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
