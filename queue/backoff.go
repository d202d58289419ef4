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

// expiration is when the backoff of an item whose attempt has just ended is over; zero for
// one that keeps its place. Where order is strict only an error is followed by one: a rejected
// workload that backed off would be passed by those behind it when the room comes that it
// has waited for.
func (q *Queue) expiration(it *Item) time.Time {
	if q.keepsPlace(it) {
		return time.Time{}
	}
	return q.backoffEnd(it)
}

// backoffEnd is when the backoff of an item that has just failed ends; zero
// where backoff is off, and for one that was never tried.
func (q *Queue) backoffEnd(it *Item) time.Time { return q.backoffEndFrom(it, it.Timestamp) }

// backoffEndFrom is backoffEnd for one that failed at the time. Where it keeps its place its timestamp is older.
func (q *Queue) backoffEndFrom(it *Item, failed time.Time) time.Time {
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
	return q.align(failed.Add(q.backoffFor(count, len(it.Members))))
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
