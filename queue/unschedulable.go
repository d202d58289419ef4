package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// unschedulable holds the items that wait for an event, unschedulable and gated
// ones alike. There may be very many of them, and events come all the time, so
// nothing here looks at all of them: each item is in the list of every plugin
// that it waits for (see registration), and in a heap by the time since when it
// waits.
type unschedulable struct {
	timeouts heap
	seq      uint64 // of the last item that was inserted
	gated    int    // how many of the items are gated
}

// insert puts an item at the end of the order; its rejectors must be resolved.
func (u *unschedulable) insert(it *Item) {
	u.seq++
	it.seq = u.seq
	u.timeouts.push(it)
	it.link()
	if it.GatingPlugin != "" {
		u.gated++
	}
}

// remove takes out an item, which must be as it was when it was inserted.
func (u *unschedulable) remove(it *Item) {
	u.timeouts.remove(it)
	it.unlink()
	if it.GatingPlugin != "" {
		u.gated--
	}
}

// waitsLonger is the order of timeouts.
func waitsLonger(a, b *Item) bool {
	if s, t := a.waitsSince(), b.waitsSince(); !s.Equal(t) {
		return s.Before(t)
	}
	return a.seq < b.seq
}

// park makes an item that has been taken out of its place unschedulable, or
// gated if some plugin gates it.
func (q *Queue) park(it *Item, why cause) {
	place := Unschedulable
	if it.GatingPlugin != "" {
		place = Gated
		it.setFlushed(false)
		why.plugin = it.GatingPlugin
	}
	if it.Group != nil {
		q.resolve(it)
	}
	q.unschedulable.insert(it)
	q.settle(it, place, why)
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
	}
	q.arrive(it, now)
	it.Flushed, it.FlushedAt = false, time.Time{}
	q.resolve(it)
	if q.isMember(it.Info) {
		q.inFlight.end(id)
		it.BackoffExpiration = time.Time{} // its tree backs off
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

// requeue sends an item that has been taken out of its place where the verdict
// says.
func (q *Queue) requeue(it *Item, v verdict, why cause) {
	switch {
	case v == skip:
		q.park(it, why)
	case v == afterBackoff && q.backingOff(it, why.at):
		q.toBackoff(it, why)
	default:
		q.toActive(it, why, askGates)
	}
}

// collect fills q.picked with the items that wait for the change, in order. The
// registrations that match its event are in q.matched.
func (q *Queue) collect(c *extpoints.Change, preCheck func(*model.Workload) bool) {
	if c.Event.IsWildcard() {
		q.picked = append(q.picked, q.unschedulable.timeouts.items...)
		slices.SortFunc(q.picked, func(a, b *Item) int { return cmp.Compare(a.seq, b.seq) })
	} else {
		q.picked = merge(q.picked, q.matched)
	}
	q.picked = slices.DeleteFunc(q.picked, func(it *Item) bool {
		return (preCheck != nil && !it.any(preCheck)) || !q.mayOpen(it, c.Event)
	})
}

// release empties what is kept between calls.
func (q *Queue) release() {
	clear(q.picked)
	q.picked = q.picked[:0]
	q.matched = q.matched[:0]
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
		q.take(it)
		it.setFlushed(true)
		it.FlushedAt = now
		q.picked = append(q.picked, it)
	}
	if len(q.picked) == 0 {
		return
	}
	for _, it := range q.picked {
		q.requeue(it, afterBackoff, labelled(UnschedulableTimeout, now))
	}
	q.release()
	q.inFlight.recordIfAny(&extpoints.Change{Event: unschedulableTimeout})
}
