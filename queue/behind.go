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

// Apart tells that no rejection of another stands any longer for the workload, and none of its own for others,
// because something about it has changed that the queue does not know, as where it is nominated. It is tried
// if it stayed behind one that is tried, since what woke that one was for both.
func (q *Queue) Apart(id string) {
	it := q.waiting[id]
	if it == nil || it.Class == "" {
		return
	}
	asleep := it.among != nil && it.place == Unschedulable
	tried := asleep && (q.leader(it) != nil || q.inFlight.leads(it.Class))
	if asleep && !tried {
		it.UnschedulablePlugins, it.PendingPlugins = q.stoodFor(it)
	}
	left := q.leaveAlike(it)
	it.Class = ""
	switch {
	case tried:
		q.goesNext(it)
	case asleep:
		q.take(it)
		q.resolve(it)
		q.unschedulable.insert(it)
	}
	q.wakeNext(left)
}

// stoodFor are the plugins that have rejected an item that waits in its class, or one before it whose rejection stands for it.
func (q *Queue) stoodFor(it *Item) (unschedulable, pending []string) {
	unschedulable, pending = it.UnschedulablePlugins, it.PendingPlugins
	for _, f := range it.among.fronts {
		if first := f.items[0]; q.ahead(first, it) {
			unschedulable = set(slices.Concat(unschedulable, first.UnschedulablePlugins))
			pending = set(slices.Concat(pending, first.PendingPlugins))
		}
	}
	return unschedulable, pending
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
