package queue

import "time"

// Done ends the flight of a workload that does not come back: it was bound, or
// it is gone. From then on events are no longer remembered for it. Calling it
// for a workload that is not in flight does nothing.
func (q *Queue) Done(id string) {
	if it := q.inFlight.end(id); it != nil {
		q.settle(it, None, labelled(finished, time.Time{}))
	}
}

// AddUnschedulable takes back a workload after a failed attempt, with the
// plugins that rejected it, and those among them that did so with Pending;
// neither where the attempt ended in an error. It ends the flight; Done need
// not be called. A workload that was deleted during the flight, or that waits
// already, is not taken back. One that fails after Done is, and goes through
// its backoff whatever happened since; the caller must know that it still
// exists.
//
// A member of a group goes to the item of its tree, as with Add; what happened
// during its flight is not looked at, since its tree is tried again in any case.
func (q *Queue) AddUnschedulable(now time.Time, it *Item, unschedulable, pending []string) {
	id := it.ID()
	f := q.inFlight.byID[id]
	if q.waiting[id] != nil || f != nil && f.flight.deleted {
		q.Done(id)
		return
	}
	if f != nil {
		it.setWorkload(f.flight.latest)
	}
	it.UnschedulablePlugins = set(unschedulable)
	it.PendingPlugins = set(pending)
	it.GatingPlugin, it.Gate = "", nil
	if it.rejected() {
		it.UnschedulableCount++
		it.ConsecutiveErrors = 0
	} else {
		it.ConsecutiveErrors++
		it.Class = ""
	}
	q.comeBack(it, now)
	q.resolve(it)
	if q.isMember(it.Info) {
		q.inFlight.end(id)
		it.BackoffExpiration = time.Time{} // its tree backs off
		it.Class = ""
		q.passOn(it)
		q.addMember(it, labelled(ScheduleAttemptFailure, now))
		return
	}
	it.entity = nil
	it.BackoffExpiration = q.expiration(it)

	verdict, plugin := q.replay(it)
	q.inFlight.end(id)
	why := labelled(ScheduleAttemptFailure, now)
	why.plugin = plugin
	q.requeue(it, verdict, why)
}

// replay judges an item that has just failed by the events of its flight. An
// error is worth another attempt whatever happened, and so is a rejection after
// Done, since by then nobody looked out for events.
func (q *Queue) replay(it *Item) (verdict, string) {
	f := q.inFlight.byID[it.ID()]
	if !it.rejected() || f == nil {
		return afterBackoff, ""
	}
	best, by := skip, ""
	for i := f.flight.start - q.inFlight.dropped; i < uint64(len(q.inFlight.log)); i++ {
		v, plugin := q.worth(it, &q.inFlight.log[i])
		if v > best {
			best, by = v, plugin
		}
		if best == immediately || (best == afterBackoff && len(it.PendingPlugins) == 0) {
			break
		}
	}
	return best, by
}
