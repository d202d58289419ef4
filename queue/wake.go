package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Activate makes the workloads active at once if they back off or are
// unschedulable; gates still hold. For one in flight the wish is kept until the
// attempt has failed, and then counts as an event that every plugin asked for.
// All others are left alone. With a member of a group goes its whole tree.
func (q *Queue) Activate(now time.Time, ids ...string) {
	for _, id := range ids {
		if it := q.reachable(id); it != nil && it.place != Active {
			q.activate(now, it)
		} else if f := q.inFlight.byID[id]; f != nil {
			q.inFlight.record(extpoints.Event{ClusterEvent: forceActivate, NewWorkload: f.flight.latest})
		}
	}
}

func (q *Queue) activate(now time.Time, it *Item) {
	gates := askGates
	if it.place == Backoff || it.place == ErrorBackoff {
		gates = q.gatesAfterBackoff()
	}
	q.take(it)
	q.toActive(it, labelled(ForceActivate, now), gates)
}

// ActivateFirst is Activate for those of the workloads that are unschedulable, and only for the first of
// those that are alike (see [Item].Class): the next follows if that one is placed.
func (q *Queue) ActivateFirst(now time.Time, ids ...string) {
	for _, id := range ids {
		if it := q.reachable(id); it != nil && it.place == Unschedulable && !q.staysBehind(it) {
			q.wake(it, immediately, labelled(ForceActivate, now))
		}
	}
	q.wakeFirst()
}

// Move offers a change to all unschedulable and gated workloads for which
// preCheck holds (nil: all); those for which it is worth another attempt leave.
// A tree of groups is offered it if preCheck holds for any member, and leaves if
// it is worth it for any.
// If any workload is in flight the change is remembered for it, whatever
// preCheck says. The change may be reused after the call.
func (q *Queue) Move(now time.Time, c *extpoints.Event, preCheck func(*model.Workload) bool) {
	if !q.match(c.ClusterEvent) {
		return
	}
	q.collect(c, preCheck)
	for _, it := range q.picked {
		if q.staysBehind(it) || it.place == Active { // one before it has left meanwhile
			continue
		}
		verdict, plugin := q.worth(it, c)
		if verdict != skip {
			q.wake(it, verdict, cause{event: c.ClusterEvent, plugin: plugin, at: now})
		}
	}
	slices.SortFunc(q.woken, func(a, b wakeUp) int { return cmp.Compare(a.item.seq, b.item.seq) })
	q.wakeFirst()
	q.release()
	q.inFlight.recordIfAny(c)
}

// Retry requeues a workload that waits for events, without an event. Use it when
// something that its last attempt started is over and no event will follow: because it
// failed (EvictionFailed), or because no hint would accept one (RoomMade); the label
// says which. The backoff starts now and, as after an error, is not cut short when the
// queue is idle; in the order by queues there is none after RoomMade. A member that waits with its tree of groups requeues the tree.
func (q *Queue) Retry(now time.Time, id, label string) {
	it := q.waiting[id]
	if it != nil && it.leaf != nil {
		it = it.entity
	}
	if it == nil || it.place != Unschedulable && it.place != Gated {
		return
	}
	q.take(it)
	it.UnschedulablePlugins, it.PendingPlugins = nil, nil
	it.GatingPlugin, it.Gate = "", nil
	q.arrive(it, now)
	it.BackoffExpiration = q.backoffEnd(it)
	if label == RoomMade && q.strict {
		it.BackoffExpiration = time.Time{}
	}
	q.resolve(it)
	q.requeue(it, afterBackoff, labelled(label, now))
}

// collect fills q.picked with the items that wait for the change, in order, and the first of
// each front that does. The registrations that match its event are in q.matched.
func (q *Queue) collect(c *extpoints.Event, preCheck func(*model.Workload) bool) {
	if c.ClusterEvent.IsWildcard() {
		q.picked = append(q.picked, q.unschedulable.timeouts.items...)
		slices.SortFunc(q.picked, func(a, b *Item) int { return cmp.Compare(a.seq, b.seq) })
	} else {
		q.picked = merge(q.picked, q.matched)
		q.pickFronts(q.matched)
	}
	q.picked = slices.DeleteFunc(q.picked, func(it *Item) bool {
		return (preCheck != nil && !it.any(preCheck)) || !q.mayOpen(it, c.ClusterEvent)
	})
}

// release empties what is kept between calls.
func (q *Queue) release() {
	clear(q.picked)
	q.picked = q.picked[:0]
	q.matched = q.matched[:0]
}

// wakeAskers lets those try again who wait and whose time has come, or everybody.
func (q *Queue) wakeAskers(now time.Time, all bool) {
	if q.tree == nil {
		return
	}
	why := labelled(QueuesChanged, now)
	if !all {
		why = labelled(MinRuntimeOver, now)
	}
	for _, id := range q.tree.askers.due(now, all) {
		if it := q.reachable(id); it != nil && it.place == Unschedulable && !q.staysBehind(it) {
			q.wake(it, immediately, why)
		}
	}
	q.wakeFirst()
}
