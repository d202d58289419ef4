package queue

import (
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Tick does the periodic work that is due: it ends the backoffs that are over,
// and wakes the unschedulable workloads that have waited too long, or for others to have run
// long enough; and it looks whether limits on what is used over time are reached, or not any more.
func (q *Queue) Tick(now time.Time) {
	q.flushBackoff(now)
	q.flushUnschedulable(now)
	q.wakeAskers(now, false)
	q.readMeters(now)
}

// NextDue is when Tick next has something to do, not before now; false if it
// has nothing to wait for. Every other call may change the answer.
func (q *Queue) NextDue(now time.Time) (time.Time, bool) {
	var due time.Time
	consider := func(at time.Time) {
		if due.IsZero() || at.Before(due) {
			due = at
		}
	}
	for _, h := range []*heap{&q.backoff, &q.errorBackoff} {
		if it := h.first(); it != nil {
			consider(nextMultiple(it.BackoffExpiration, q.cfg.OrderingWindow))
		}
	}
	if it := q.unschedulable.timeouts.first(); it != nil {
		consider(nextMultiple(it.waitsSince().Add(q.cfg.MaxInUnschedulable), q.cfg.UnschedulableFlushInterval))
	}
	if q.tree != nil && !q.tree.askers.next.IsZero() {
		consider(q.tree.askers.next)
	}
	if q.tree != nil && len(q.tree.metered) > 0 {
		if at := q.tree.metersDue(); at != never {
			consider(time.UnixMilli(at).UTC())
		}
	}
	if due.IsZero() {
		return time.Time{}, false
	}
	if due.Before(now) {
		due = now
	}
	return due, true
}

// nextMultiple is the first whole multiple of d after t.
func nextMultiple(t time.Time, d time.Duration) time.Time {
	return t.Truncate(d).Add(d)
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

// flushUnschedulable wakes the items that at the last whole interval had waited
// for longer than allowed. It counts as an event that every plugin asked for,
// also for the workloads that are in flight.
func (q *Queue) flushUnschedulable(now time.Time) {
	asOf := now.Truncate(q.cfg.UnschedulableFlushInterval)
	for {
		it := q.unschedulable.timeouts.first()
		if it == nil || asOf.Sub(it.waitsSince()) <= q.cfg.MaxInUnschedulable {
			break
		}
		it.FlushedAt = now // also of those that stay behind others
		q.unschedulable.timeouts.fix(it)
		q.picked = append(q.picked, it)
	}
	if len(q.picked) == 0 {
		return
	}
	for _, it := range q.picked {
		if it.place != Active && !q.staysBehind(it) {
			q.wake(it, afterBackoff, labelled(UnschedulableTimeout, now))
		}
	}
	q.wakeFirst()
	q.release()
	q.inFlight.recordIfAny(&extpoints.Event{ClusterEvent: unschedulableTimeout})
}

// readMeters lets go on what a limit has kept long enough, and tells of those that are reached.
func (q *Queue) readMeters(now time.Time) {
	if q.tree == nil || len(q.tree.metered) == 0 {
		return
	}
	q.advance(now)
	t := q.tree
	if t.metersDue() > t.tick {
		return
	}
	t.looks++
	for _, g := range t.metered {
		if m := t.meterOf(g); t.reaches(g) <= t.tick {
			m.told = true
			if q.cfg.OnLimit != nil {
				q.cfg.OnLimit(g.limit, g.key.principal)
			}
		}
		g.waiters.wake(func(h *hold) bool { return h.until <= t.tick })
	}
}
