package queue

import (
	"slices"
	"time"

	"github.com/berth-project/berth/model"
)

// Outcome says how an attempt to place a group has ended.
type Outcome uint8

// The outcomes.
const (
	// GroupPlaced: the attempt went well and at least one member has a node
	// that it had not before, or no member was left to be tried. Where that is
	// said of an attempt that achieved nothing, the next one follows at once.
	GroupPlaced Outcome = iota
	// GroupRejected: there is no room for it as things are.
	GroupRejected
	// GroupFailed: the attempt ended in an error.
	GroupFailed
	// GroupNominated: it was rejected, and would fit where its members are nominated now. No event
	// need come before it does.
	GroupNominated
)

// AddAttempted ends an attempt to place a group; it must follow the Pop of the
// item, and come before the next one. Before it, each member of the item that
// has no node is handed back with AddUnschedulable, or ended with Done; those
// that have one stay in flight until Done, or until AddUnschedulable if binding
// fails.
//
// If any members wait now, be it that they came back or that they are new, the
// item goes on with them: after GroupPlaced it is active at once, as old as it
// was if any came back, and with its counts at zero; else it backs off, for a
// time that doubles with each attempt up to the longest times the square root
// of the number of members. It never waits for events; only the gates can hold
// it. (kube-scheduler scheduling_queue.go AddAttemptedPodGroupIfNeeded, 1.37.1.) Where
// order is strict it does not back off after GroupRejected, and waits for any event: with
// one member fewer, or a node more, it may fit although no member asked for that. After
// GroupNominated it backs off there too.
func (q *Queue) AddAttempted(now time.Time, it *Item, how Outcome) {
	if it.Group == nil || it.place != InFlight {
		return
	}
	members := it.joining
	cameBack := slices.ContainsFunc(it.Members, func(m *Item) bool {
		w := q.waiting[m.ID()]
		return w != nil && w.entity == it
	})
	it.joining, it.Members, it.Tree = nil, nil, nil
	if len(members) == 0 {
		q.forget(it)
		return
	}
	for _, m := range members {
		it.insert(m)
	}
	if root := q.cfg.Groups().Get(it.ID()); root != nil {
		it.Group = root
	}
	it.refresh()
	switch how {
	case GroupPlaced:
		it.UnschedulableCount, it.ConsecutiveErrors = 0, 0
	case GroupRejected, GroupNominated:
		it.UnschedulableCount++
		it.ConsecutiveErrors = 0
	default:
		it.ConsecutiveErrors++
	}
	if how != GroupPlaced || !cameBack {
		q.comeBack(it, now)
	} else {
		it.Flushed, it.FlushedAt = false, time.Time{}
	}
	why := labelled(ScheduleAttemptFailure, now)
	if how == GroupPlaced {
		it.BackoffExpiration = time.Time{}
		q.toActive(it, why, askGates)
		return
	}
	if how == GroupRejected && q.strict {
		it.BackoffExpiration = time.Time{}
		q.park(it, why)
		return
	}
	it.BackoffExpiration = q.backoffEndFrom(it, now)
	q.requeue(it, afterBackoff, why)
}

// GroupChanged tells that the group was made, changed or removed; what
// Hooks.Groups answers is how it is now. Members below it that wait follow: to
// the item of the tree that they belong to now, or away from one, to wait until
// all groups above them are there. The gates are asked again for the members
// that are left. Whether the change is worth another attempt is another matter;
// see [Queue.Move], which is to be called afterwards. (kube-scheduler
// scheduling_queue.go AddPodGroup, UpdatePodGroup and DeletePodGroup, 1.37.1. A
// group there stays with its parent.)
func (q *Queue) GroupChanged(now time.Time, id string) {
	if q.cfg.Groups == nil {
		return
	}
	groups := q.cfg.Groups()
	q.regroup(groups, id)
	var trees, lost []*Item
	q.each(groups, id, model.MaxGroupDepth, func(l *leaf) {
		it := l.entity
		if root := q.root(l.id); root == nil && it == nil || root != nil && it != nil && root.ID == it.ID() {
			return
		}
		if it != nil && it.place != InFlight && !slices.Contains(trees, it) {
			trees = append(trees, it)
			q.take(it)
		}
		lost = append(lost, q.takeOut(l)...)
	})
	why := labelled(GroupChanged, now)
	for _, m := range lost {
		if q.root(m.Workload.Group) == nil {
			q.addMember(m, why)
		}
	}
	for _, it := range trees {
		q.rejoin(it, why)
	}
	for _, m := range lost {
		if m.leaf == nil {
			q.addMember(m, why)
		}
	}
}

// regroup puts a new version of the highest group of a tree in place.
func (q *Queue) regroup(groups GroupTrees, id string) {
	root := groups.Root(id)
	if root == nil {
		return
	}
	if it := q.byRoot[root.ID]; it != nil && it.place != InFlight {
		it.Group = root
		it.refresh()
		if h := q.heapOf(it.place); h != nil {
			h.fix(it)
		}
	}
}
