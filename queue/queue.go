package queue

import (
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Queue is the scheduling queue. It has no lock: it is used by one goroutine at
// a time, and so are the items it hands out, except that an item in flight may
// be read by the goroutine that works on the attempt.
//
// The times that the methods are given must not go backwards.
type Queue struct {
	cfg   config
	hints hints

	// waiting has every item that is in one of the four structures below it.
	waiting  map[string]*Item
	arrivals uint64 // see Item.arrival
	active   order
	// strict: what was rejected keeps its turn; see Hooks.KeepPlace.
	strict        bool
	tree          *tree  // active, where it is ordered by queues; else nil
	turns         *Turns // of those that wait for room; nil where nobody has asked for them
	backoff       heap
	errorBackoff  heap
	unschedulable unschedulable

	inFlight inFlight
	groups

	classes map[string]*alike
	latest  time.Time // the last time that a call was given

	asks uint64 // how many events were offered

	// Kept between calls to save the allocation; empty in between.
	matched []*registration
	picked  []*Item
	woken   []wakeUp
}

// wakeUp is one item of a class that is to be woken, if no other is before it.
type wakeUp struct {
	item  *Item
	class *alike
	how   verdict
	why   cause
}

// Turns makes the order of workloads that wait for room, none at first. It follows what the
// queue is told from now on; the one that was made before does not. It is nil where the
// order is not by queues.
func (q *Queue) Turns() *Turns {
	if q.tree != nil {
		q.turns = turnsOf(q.tree)
	}
	return q.turns
}

// before is the order of the active items, which is total: what Less calls equal
// goes by arrival. (kube-scheduler's clock is so fine that no two pods have the
// same time; here all that comes of one call has.)
func (q *Queue) before(a, b *Item) bool {
	if compareArrival(a, b) < 0 {
		return !q.cfg.Less(&b.Queued, &a.Queued)
	}
	return q.cfg.Less(&a.Queued, &b.Queued)
}

// beforeInLine is before for workloads of one leaf of the order by queues. Failed
// attempts do not cost a workload its place there: it is as old as when it came.
func (q *Queue) beforeInLine() func(a, b *Item) bool {
	var x, y extpoints.Queued // kept between calls to save the allocation
	return func(a, b *Item) bool {
		x, y = a.Queued, b.Queued
		x.Timestamp, y.Timestamp = x.AddedAt, y.AddedAt
		x.Attempts, y.Attempts = 0, 0
		if compareSubmission(a, b) < 0 {
			return !q.cfg.Less(&y, &x)
		}
		return q.cfg.Less(&x, &y)
	}
}

// arrive notes that the item comes to the queue now, or comes back to it.
func (q *Queue) arrive(it *Item, now time.Time) {
	q.arrivals++
	it.Timestamp, it.arrival = now, q.arrivals
}

// comeBack notes that the attempt has ended in a rejection, or in an error.
func (q *Queue) comeBack(it *Item, now time.Time) {
	it.Flushed, it.FlushedAt = false, time.Time{}
	if q.keepsPlace(it) {
		it.FlushedAt = now // it waits for events from now on
		return
	}
	q.arrive(it, now)
}

// keepsPlace reports whether the item stays where it is in the order although an attempt
// for it has ended.
func (q *Queue) keepsPlace(it *Item) bool { return q.strict && it.ConsecutiveErrors == 0 }

// take removes a waiting item from its structure. It.place still says where it
// was, for the settle that must follow.
func (q *Queue) take(it *Item) {
	if h := q.heapOf(it.place); h != nil {
		h.remove(it)
	} else {
		q.unschedulable.remove(it)
	}
}

// seat is settle for a workload, which may be a member of the group.
func (q *Queue) seat(it *Item, to Place, group string, why cause) {
	from := it.place
	it.place = to
	switch {
	case to == None || to == InFlight:
		if from != None && from != InFlight {
			delete(q.waiting, it.ID())
		}
	case from == None || from == InFlight:
		q.waiting[it.ID()] = it
	}
	if from != to && q.cfg.OnMove != nil {
		q.cfg.OnMove(Move{ID: it.ID(), Group: group, From: from, To: to, Event: why.event, Plugin: why.plugin, At: why.at})
	}
}

// heapOf is the heap of a place, nil for unschedulable and gated.
func (q *Queue) heapOf(p Place) order {
	switch p {
	case Active:
		return q.active
	case Backoff:
		return &q.backoff
	case ErrorBackoff:
		return &q.errorBackoff
	}
	return nil
}

// settleTree is settle for the item of a tree.
func (q *Queue) settleTree(it *Item, to Place, why cause) {
	for _, m := range it.Members {
		if to == Active && m.ActiveAt.IsZero() {
			m.ActiveAt = why.at
		}
		if m.place != to {
			q.seatMember(m, to, why)
		}
	}
	q.items[it.place]--
	q.items[to]++
	it.place = to
}

func (q *Queue) seatMember(m *Item, to Place, why cause) {
	q.members[m.place]--
	q.members[to]++
	group := ""
	if m.entity != nil {
		group = m.entity.ID()
	}
	q.seat(m, to, group, why)
}
