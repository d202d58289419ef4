package queue

import (
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Add takes in a new workload: it becomes active, or gated. A member of a group
// joins the item of its tree, which stays where it is, except that the gates are
// asked again if it is active or enters backoff anew; or it makes the item, or
// waits until its groups are there or an attempt of theirs is over. One that
// waits under the same ID is replaced. While one of the same ID is in flight the new
// one is not popped: Pop drops it, and the attempt under way stands for it.
func (q *Queue) Add(now time.Time, w *extpoints.WorkloadInfo) {
	if old := q.waiting[w.ID]; old != nil {
		q.drop(old, now)
	}
	it := new(Item)
	it.setWorkload(w)
	q.arrive(it, now)
	it.AddedAt = now
	if q.tree != nil {
		it.submitted = it.arrival
	}
	why := cause{event: WorkloadAdded, at: now}
	if q.isMember(w) {
		q.addMember(it, why)
		return
	}
	q.toActive(it, why, askGates)
}

// drop takes a waiting item out of the queue for good.
func (q *Queue) drop(it *Item, now time.Time) {
	if it.leaf != nil {
		q.dropMember(it, now)
		return
	}
	q.take(it)
	q.settle(it, None, labelled(Deleted, now))
}

// Update tells of a new version of a workload that is on no node. One that is
// active or backing off is replaced where it is; for one that is unschedulable
// or gated the hints decide whether the change is worth another attempt; one in
// flight gets the new version after the attempt, and the change is played back
// then. One that is unknown is added, and so is one that is with another group
// now, or as a member where it was none, or the other way round: as new.
func (q *Queue) Update(now time.Time, old, new *extpoints.WorkloadInfo) {
	if f := q.inFlight.byID[new.ID]; f != nil {
		f.flight.latest = new
		for _, event := range targetEvents(old, new) {
			q.inFlight.record(extpoints.Event{ClusterEvent: event, OldWorkload: old, NewWorkload: new})
		}
		return
	}
	it := q.waiting[new.ID]
	if it == nil {
		q.Add(now, new)
		return
	}
	if it.leaf != nil || q.isMember(new) {
		q.updateMember(now, it, old, new)
		return
	}
	defer q.changeAlike(it, new)()
	switch it.place {
	case Active, Backoff, ErrorBackoff:
		it.setWorkload(new)
		q.resolve(it) // it may be gated later, in another profile
		q.fixed(it, labelled(QueuesChanged, now))
		if q.lacksProfile(it) && it.place != Gated {
			q.take(it)
			q.park(it, cause{event: WorkloadDemandsChanged, at: now})
		}
	default:
		q.updateParked(now, it, old, new)
	}
}

// fixed brings an item that has changed to its place in the heap that it is in. With the
// order by queues it may belong to another queue now, or be more than it could ever have.
func (q *Queue) fixed(it *Item, why cause) {
	q.heapOf(it.place).fix(it)
	if it.place == Active && q.tree != nil && !q.tree.stale && q.tree.refusal(it) != nil {
		q.take(it)
		q.toActive(it, why, skipGates)
	}
}

// updateParked is Update for an unschedulable or gated item. The first event
// that is worth another attempt settles it: if a gate turns the item away, it
// would do so again on the next one.
func (q *Queue) updateParked(now time.Time, it *Item, old, new *extpoints.WorkloadInfo) {
	moved := it.Info.Profile != new.Profile
	it.setWorkload(new)
	if moved { // other registrations
		q.take(it)
		q.resolve(it)
		q.unschedulable.insert(it)
	}
	q.offerUpdate(now, it, old, new)
}

// offerUpdate judges what a change of a workload means for a parked item that it
// is, or is a member of.
func (q *Queue) offerUpdate(now time.Time, it *Item, old, new *extpoints.WorkloadInfo) {
	for _, event := range targetEvents(old, new) {
		c := extpoints.Event{ClusterEvent: event, OldWorkload: old, NewWorkload: new}
		verdict, plugin := q.worth(it, &c)
		if verdict == skip {
			continue
		}
		q.take(it)
		q.requeue(it, verdict, cause{event: event, plugin: plugin, at: now})
		return
	}
}

// updateMember is Update for a member that waits, or for a workload that waits
// and has become one.
func (q *Queue) updateMember(now time.Time, m *Item, old, new *extpoints.WorkloadInfo) {
	if m.leaf == nil || !q.isMember(new) || m.leaf.id != new.Group {
		q.Add(now, new)
		return
	}
	it := m.entity
	if it == nil || it.place == InFlight {
		m.setWorkload(new)
		q.resolve(m)
		return
	}
	moved := m.Info.Profile != new.Profile
	it.Members = slices.DeleteFunc(it.Members, func(o *Item) bool { return o == m })
	m.setWorkload(new)
	q.resolve(m)
	it.insert(m)
	it.refresh()
	if q.heapOf(it.place) != nil {
		q.fixed(it, labelled(QueuesChanged, now))
		return
	}
	if moved { // other registrations
		q.take(it)
		q.park(it, cause{})
	}
	q.offerUpdate(now, it, old, new)
}

// Delete takes the workload out of the queue, wherever it is. If it is in
// flight it does not come back after the attempt. For the members of its tree
// of groups that are active, or enter backoff anew, the gates are asked again.
func (q *Queue) Delete(id string) {
	it := q.waiting[id]
	if it != nil {
		q.drop(it, time.Time{})
	}
	if f := q.inFlight.byID[id]; f != nil {
		f.flight.deleted = true
		if tree := q.treeOf(f.flight.latest); it == nil && tree != nil {
			q.take(tree)
			q.rejoin(tree, labelled(Deleted, time.Time{}))
		}
	}
}
