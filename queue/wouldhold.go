package queue

import (
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// WouldHold says what would hold the workloads back if they had their turn now: nil for nothing, and
// where the order is not by queues. They are the members that wait of the whole tree of the group, or
// one workload where that is nil. Ask a queue in which nothing waits: for the moment the workloads are
// put into the order.
func (q *Queue) WouldHold(now time.Time, group *model.Group, members ...*model.Workload) *Held {
	t := q.tree
	if t == nil || len(members) == 0 {
		return nil
	}
	q.Reorder(now)
	it := &Item{Queued: extpoints.Queued{Workload: members[0], Group: group}}
	if group != nil {
		for _, w := range members {
			it.Members = append(it.Members, &Item{Queued: extpoints.Queued{Workload: w}})
		}
	}
	t.push(it)
	defer t.remove(it)
	if t.stale { // its principal has another leaf in the queue
		t.rebuild()
	}
	never := t.refusal(it)
	if never != nil && never.Absent != "" {
		return never
	}
	h := t.check(it.at, it, false)
	switch {
	case h == nil: // what others do not lend they may have used up, on what has gone, although all that is left is theirs
		return nil
	case never != nil:
		return never
	}
	return t.describe(h, false)
}

// Inherit has the queue, which must be new, remember what the other does of limits on what is used
// over time. What it is told of definitions and charges is to be the same: nothing is charged for it twice.
func (q *Queue) Inherit(from *Queue) {
	if q.tree == nil || from.tree == nil {
		return
	}
	q.tree.tick = from.tree.tick
	for _, s := range from.tree.meterStates() {
		if err := q.tree.resumeMeter(&s); err != nil {
			panic(err) // it is the state of a ledger
		}
	}
}
