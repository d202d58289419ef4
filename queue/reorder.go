package queue

import (
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// DefinitionChanged tells that a queue, a principal or a limit was added, changed or
// removed; before and after are what there was and is, nil for none. Objects of other
// kinds are left alone, and so is everything where the order is not by queues. It takes
// effect with [Queue.Reorder].
func (q *Queue) DefinitionChanged(before, after model.Object) {
	if q.tree != nil {
		q.tree.define(before, after)
		q.turns.follow(func(t *tree) { t.define(before, after) })
	}
}

func (t *tree) define(before, after model.Object) {
	switch o := either(before, after).(type) {
	case *model.Queue:
		define(t.queues, o.Name, after)
	case *model.Principal:
		define(t.principals, o.Name, after)
	case *model.Limit:
		define(t.limits, o.Name, after)
	default:
		return
	}
	t.stale = true
}

func either(before, after model.Object) model.Object {
	if after != nil {
		return after
	}
	return before
}

// define makes the object the definition of the name, or forgets it.
func define[T model.Object](defined map[string]T, name string, after model.Object) {
	if o, ok := after.(T); ok {
		defined[name] = o
		return
	}
	delete(defined, name)
}

// NodeChanged tells what nodes offer, which shares are parts of; before and after are what
// there was and is, nil for none. It takes effect with [Queue.Reorder].
func (q *Queue) NodeChanged(before, after *model.Node) {
	if q.tree != nil {
		if q.tree.hopeless != nil && before != nil && rejectsMore(before, after) {
			q.tree.holdAnew()
		}
		q.tree.nodeChanged(before, after)
		q.turns.follow(func(t *tree) { t.nodeChanged(before, after) })
	}
}

// rejectsMore reports whether the node, nil for one that is gone, may have become the wrong one for
// workloads for which it was not.
func rejectsMore(before, after *model.Node) bool {
	return after == nil || after.Unschedulable && !before.Unschedulable || len(extpoints.EventsForNodeUpdate(before, after)) > 0
}

// holdAnew ends all holds. Those begin again that are still to be.
func (t *tree) holdAnew() {
	for _, h := range t.top.holds() {
		if h.part.held == h {
			h.end()
			h.part.offer()
		}
	}
}

func (t *tree) nodeChanged(before, after *model.Node) {
	var had, has []amount
	if before != nil {
		had = t.offers(nil, before)
	}
	if after != nil {
		has = t.offers(nil, after)
	}
	if slices.Equal(had, has) {
		return
	}
	for _, a := range had {
		t.capacity = grown(t.capacity, a.resource)
		t.capacity[a.resource].sub(a.n)
	}
	for _, a := range has {
		t.capacity = grown(t.capacity, a.resource)
		t.capacity[a.resource].add(a.n)
	}
	t.stale = true
}

// Charge charges what the workload requests to its queue and its principal: it has got a
// node now, or has had it since a time that is over; what it has used since then is charged by
// Reorder. By its time limit it must have ended at a time, zero for none. Where the order is
// not by queues it does nothing. Of one that is charged already it says another such time.
func (q *Queue) Charge(now, since, end time.Time, w *model.Workload) {
	if q.tree != nil {
		q.advance(now)
		of := charged{w, never}
		if !end.IsZero() {
			of.end = tickOf(end)
		}
		if q.tree.replan(of) {
			q.turns.follow(func(*tree) {})
			return
		}
		if at := min(tickOf(since), q.tree.tick); q.tree.stale || at < q.tree.tick {
			q.tree.late = append(q.tree.late, lateCharge{w, at})
		}
		q.tree.charge(of)
		q.turns.follow(func(t *tree) { t.charge(of) })
	}
}

// Discharge takes back what Charge did, of the very same version of the workload: it has
// left its node. What it has used until then is remembered. What waited for that gets its turn.
func (q *Queue) Discharge(now time.Time, w *model.Workload) {
	if q.tree != nil {
		q.advance(now)
		q.tree.late = slices.DeleteFunc(q.tree.late, func(l lateCharge) bool { return l.workload == w })
		q.tree.discharge(w)
		q.turns.follow(func(t *tree) { t.discharge(w) })
	}
}

// Reorder carries out what was told with DefinitionChanged and NodeChanged. Workloads that
// a definition holds back, or no longer does, move. Call it once for all changes that
// belong together; Pop does so too.
func (q *Queue) Reorder(now time.Time) {
	q.advance(now)
	t := q.tree
	if t == nil {
		return
	}
	if t.crowded() {
		t.stale = true
		q.turns.follow(func(t *tree) { t.stale = true })
	}
	if !t.stale && !t.regate && len(t.late) == 0 {
		return
	}
	t.looks++
	if t.stale {
		t.rebuild()
		defer q.wakeAskers(now, true)
	}
	t.chargeAllLate()
	if !t.regate {
		return
	}
	t.regate = false
	why := labelled(QueuesChanged, now)
	for j := t.gated.first; j != nil; j = j.next {
		q.picked = append(q.picked, j.item)
	}
	for _, it := range q.picked {
		if refused := t.refusal(it); refused != nil {
			it.Gate = refused.status()
			continue
		}
		q.take(it)
		q.toActive(it, why, askGates)
	}
	q.release()
	for _, leaf := range t.sortedLeaves() {
		if leaf.leaf.missing != nil {
			q.picked = append(q.picked, leaf.leaf.items.items...)
		}
	}
	slices.SortFunc(q.picked, compareSubmission)
	for _, it := range q.picked {
		q.take(it)
		q.toActive(it, why, skipGates)
	}
	q.release()
}

// Looks counts how often a Pop has held back a part of the order by queues, or gated or
// released a workload. One that returns nothing has changed the queue all the same where
// the count has grown; who repeats the calls must not leave it out.
func (q *Queue) Looks() uint64 {
	if q.tree == nil {
		return 0
	}
	return q.tree.looks
}

// popActive takes out the active item that is next.
func (q *Queue) popActive(now time.Time) *Item {
	it := q.First(now)
	if it != nil {
		q.active.remove(it)
	}
	return it
}

// First returns the item that Pop would take of the active ones, nil where there is none.
// With the order by queues those that could never be placed are gated as soon as they are
// in the way.
func (q *Queue) First(now time.Time) *Item {
	if q.tree == nil {
		return q.active.first()
	}
	q.Reorder(now)
	for {
		it, never := q.tree.look()
		if never == nil {
			return it
		}
		q.take(it)
		q.tree.looks++
		it.gateByQueues(q.tree.describe(never, true))
		q.park(it, labelled(QueuesChanged, now))
	}
}

// ChargePast charges what the workloads of a principal in a queue have used until a time, by
// resource and in its unit times seconds: more than was known. It decays from then on, and
// counts for limits that are said, too. The queue must be there.
func (q *Queue) ChargePast(now, until time.Time, queue, principal string, used map[string]int64) {
	if q.tree == nil {
		return
	}
	q.Reorder(now)
	at, leaf := min(tickOf(until), q.tree.tick), leafKey{queue, principal}
	q.tree.chargePast(at, leaf, used)
	q.turns.follow(func(t *tree) { t.chargePast(at, leaf, used) })
}
