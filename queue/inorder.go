package queue

import "slices"

// InOrder lists the items that are active, back off, or wait for an event and are not gated,
// in the order of the active ones. By queues, and where Turns was asked for, that is the order of
// their turns, see [Turns.All], with those last that a quota or a limit holds back.
func (q *Queue) InOrder() []*Item {
	list := q.sorted(slices.Concat(q.waitForEvents(), q.active.all(), q.backoff.items, q.errorBackoff.items))
	if q.turns != nil {
		q.turns.sort(list)
	}
	return list
}

// Ahead is how many of those that InOrder lists are before what the ID stands for, as by
// itself or as a member; 0 where it does not wait. By queues it is how many active workloads
// would have their turn before it if nothing else changed, see [Standing].Before, as if it
// were active, too.
func (q *Queue) Ahead(id string) int {
	it := q.waiting[id]
	if it != nil && it.leaf != nil {
		it = it.entity
	}
	if it == nil {
		return 0
	}
	if q.tree != nil {
		return q.tree.ahead(it)
	}
	n := q.aheadInHeap(it, 0)
	for _, list := range [][]*Item{q.unschedulable.timeouts.items, q.backoff.items, q.errorBackoff.items} {
		for _, other := range list {
			if other.place != Gated && other != it && q.before(other, it) {
				n++
			}
		}
	}
	return n
}

// aheadInHeap is how many of the active ones are before the item, of those that are at the index of
// the heap or below. What is not before it has nothing below it that is.
func (q *Queue) aheadInHeap(it *Item, i int) int {
	items := q.active.all()
	if i >= len(items) || items[i] == it || !q.before(items[i], it) {
		return 0
	}
	return 1 + q.aheadInHeap(it, 2*i+1) + q.aheadInHeap(it, 2*i+2)
}

func (q *Queue) waitForEvents() (list []*Item) {
	for _, it := range q.unschedulable.timeouts.items {
		if it.place == Unschedulable {
			list = append(list, it)
		}
	}
	return list
}

func (q *Queue) sorted(list []*Item) []*Item {
	slices.SortFunc(list, func(a, b *Item) int {
		if q.before(a, b) {
			return -1
		}
		return 1
	})
	return list
}
