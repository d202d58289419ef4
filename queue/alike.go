package queue

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Placed tells that the workload in flight has a node, although it is not Done: those like it that wait
// behind it go on. Call it where a workload with a node waits for something else, as on Permit; Done
// implies it. Of a workload that is not in flight it takes no notice.
func (q *Queue) Placed(id string) {
	if it := q.inFlight.byID[id]; it != nil {
		q.passOn(it)
	}
}

// passOn lets those behind an item in flight go on.
func (q *Queue) passOn(it *Item) {
	class := it.leads
	it.leads = ""
	q.wakeNext(class)
}

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

// followAlike follows a workload of its own to the place where it is now.
func (q *Queue) followAlike(it *Item) {
	left := q.leaveAlike(it)
	switch it.place {
	case InFlight:
		it.leads = left
		return
	case Active, Unschedulable:
		q.joinAlike(it)
	}
	if it.among == nil || it.among.name != left {
		q.wakeNext(left)
	}
}

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
	i, _ := slices.BinarySearchFunc(c.waiting, it, func(a, b *Item) int {
		if q.ahead(a, b) {
			return -1
		}
		return 1
	})
	c.waiting = slices.Insert(c.waiting, i, it)
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
	} else if i := slices.Index(c.waiting, it); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
		if i == 0 {
			left = c.name
		}
	}
	if len(c.active)+len(c.waiting) == 0 {
		delete(q.classes, c.name)
	}
	return left
}

// wakeNext wakes the first of the class that waits, unless an active one is before it.
func (q *Queue) wakeNext(class string) {
	c := q.classes[class]
	if c == nil || len(c.waiting) == 0 || q.leader(c.waiting[0]) != nil {
		return
	}
	q.goesNext(c.waiting[0]) // where a gate stops it, the next follows
}

// goesNext lets an item that waits be tried without an event.
func (q *Queue) goesNext(it *Item) {
	q.take(it)
	q.toActive(it, labelled(NextAlike, q.latest), askGates)
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

// wake requeues an item that waits for an event. One that has a class may be followed by one before
// it, so it goes with wakeFirst, which must be called at the end.
func (q *Queue) wake(it *Item, how verdict, why cause) {
	c := it.among
	if c == nil || it.place != Unschedulable {
		q.wakeNow(it, how, why)
		return
	}
	c.woken = it
	q.woken = append(q.woken, wakeUp{it, c, how, why})
}

func (q *Queue) wakeNow(it *Item, how verdict, why cause) {
	q.take(it)
	if why.event.Label == UnschedulableTimeout {
		it.setFlushed(true)
	}
	q.requeue(it, how, why)
}

// wakeFirst requeues the first of each class.
func (q *Queue) wakeFirst() {
	for i := 0; i < len(q.woken); i++ {
		w := q.woken[i]
		if w.class.woken != w.item {
			continue // another is before it
		}
		w.class.woken = nil
		if w.item.among == w.class && w.item.place == Unschedulable { // else it has followed another meanwhile
			q.wakeNow(w.item, w.how, w.why)
		}
	}
	clear(q.woken)
	q.woken = q.woken[:0]
}

// changeAlike takes an item out of its class, in which it must not change, and for good if the new version
// of its workload is another to plugins. To be called after the change is a function that puts it back, or
// wakes it, since nobody's rejection stands for it any more, and lets those behind it go on.
func (q *Queue) changeAlike(it *Item, new *extpoints.WorkloadInfo) (changed func()) {
	was := it.among
	left := q.leaveAlike(it)
	if was != nil && !sameButData(it.Workload, new.Workload) {
		it.Class = ""
	}
	return func() {
		switch {
		case was == nil || it.among != nil:
		case it.Class == "" && it.place == Unschedulable:
			q.goesNext(it)
		case it.place == Active || it.place == Unschedulable:
			q.joinAlike(it)
		}
		if it.among == nil || it.among.name != left {
			q.wakeNext(left)
		}
	}
}

// sameButData reports whether plugins see no difference between two versions of a workload, its Data aside, which
// may be something else in a replay.
func sameButData(a, b *model.Workload) bool {
	x, y := *a, *b
	x.Data, y.Data = nil, nil
	return x.AlikeTo(&y)
}
