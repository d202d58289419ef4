package queue

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// ahead is the order of workloads of one class.
func (q *Queue) ahead(a, b *Item) bool {
	if q.tree != nil {
		return q.tree.before(a, b)
	}
	return q.before(a, b)
}

// sharesTries reports whether a rejection may stand for others: where order is strict. Elsewhere each
// attempt is a new arrival, so that to leave one out would change the order.
func (q *Queue) sharesTries() bool { return q.strict && q.cfg.Compat == extpoints.Improved }

// joinAlike puts an item that is active or unschedulable among those of its class, if it has one.
func (q *Queue) joinAlike(it *Item) {
	if it.Class == "" || !q.sharesTries() {
		return
	}
	c := q.classes[it.Class]
	if c == nil {
		c = &alike{name: it.Class}
		q.classes[c.name] = c
	}
	it.among = c
	if it.place == Active {
		c.active = append(c.active, it)
		return
	}
	c.joinFront(it, q.ahead)
}

// leaveAlike takes an item out of its class, and returns the class if others may be behind it: if it was
// in flight, active, or the first that waits. Those behind any other have one before it to wait for.
func (q *Queue) leaveAlike(it *Item) (left string) {
	left, it.leads = it.leads, ""
	c := it.among
	if c == nil {
		return left
	}
	it.among = nil
	if i := slices.Index(c.active, it); i >= 0 {
		c.active = slices.Delete(c.active, i, i+1)
		left = c.name
	} else {
		if c.first(q.ahead) == it {
			left = c.name
		}
		c.leaveFront(it)
	}
	if len(c.active)+len(c.fronts) == 0 {
		delete(q.classes, c.name)
	}
	return left
}

// leader is an active workload like the item that is before it, nil for none.
func (q *Queue) leader(it *Item) *Item {
	if it.among == nil || it.place != Unschedulable {
		return nil
	}
	for _, other := range it.among.active {
		if q.ahead(other, it) {
			return other
		}
	}
	return nil
}

// staysBehind reports whether one before the item is tried, or is about to be woken.
func (q *Queue) staysBehind(it *Item) bool {
	c := it.among
	if c == nil || it.place != Unschedulable {
		return false
	}
	return c.woken != nil && (c.woken == it || q.ahead(c.woken, it)) || q.leader(it) != nil
}
