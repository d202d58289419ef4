package queue

import "time"

// toActive puts an item that has been taken out of its place among the active
// ones, unless a gate turns it away.
func (q *Queue) toActive(it *Item, why cause, gates gating) {
	if gates == askGates && !q.pass(it) {
		q.park(it, why)
		return
	}
	if it.ActiveAt.IsZero() {
		it.ActiveAt = why.at
	}
	q.active.push(it)
	q.settle(it, Active, why)
}

// Pop takes out the workload that is to be scheduled next, false if there is
// none now. Where nothing is active it is the one whose backoff ends first,
// if Config.NoPopFromBackoff is off; never one that backs off from an error.
// The workload is in flight until Done, or AddUnschedulable, is called for it.
// For the item of a tree of groups that goes for each member, and AddAttempted
// ends the attempt; members that are in flight already are not among them.
func (q *Queue) Pop(now time.Time) (*Item, bool) {
	for {
		why := labelled(Popped, now)
		it := q.active.pop()
		if it == nil && !q.cfg.NoPopFromBackoff {
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
			q.settle(it, None, labelled(Discarded, now))
			continue
		}
		q.inFlight.start(it)
		q.settle(it, InFlight, why)
		return it, true
	}
}
