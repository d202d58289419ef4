package queue

import (
	"time"

	"github.com/berth-project/berth/extpoints"
)

// inFlight knows the items that are popped and not done, and the events since
// the oldest of them was popped. Each item remembers where in the log it
// started; what is before the start of the oldest is forgotten.
type inFlight struct {
	byID        map[string]*Item
	first, last *Item // in the order in which they were popped
	log         []extpoints.Change
	dropped     uint64 // how many events came before log[0]
}

// flight is what an item in flight carries along.
type flight struct {
	prev, next *Item
	start      uint64                  // number of the first event after its Pop
	latest     *extpoints.WorkloadInfo // the version to go on with
	deleted    bool                    // it must not come back
}

// start begins the flight of an item that is not in flight.
func (f *inFlight) start(it *Item) {
	it.flight = flight{prev: f.last, start: f.dropped + uint64(len(f.log)), latest: it.Info}
	if f.last == nil {
		f.first = it
	} else {
		f.last.flight.next = it
	}
	f.last = it
	f.byID[it.ID()] = it
}

// adopt gives a popped item up to one of the same ID that is in flight, and
// reports whether there is one: the workload must not be scheduled twice at a
// time, and must not be lost either.
func (f *inFlight) adopt(it *Item) bool {
	other := f.byID[it.ID()]
	if other == nil {
		return false
	}
	other.flight.latest = it.Info
	other.flight.deleted = false
	return true
}

// end ends the flight of an ID and returns its item, nil where there is none.
func (f *inFlight) end(id string) *Item {
	it := f.byID[id]
	if it == nil {
		return nil
	}
	delete(f.byID, id)
	prev, next := it.flight.prev, it.flight.next
	it.flight = flight{}
	if next == nil {
		f.last = prev
	} else {
		next.flight.prev = prev
	}
	if prev != nil {
		prev.flight.next = next
		return it
	}
	f.first = next
	f.prune()
	return it
}

// prune forgets the events before the oldest flight.
func (f *inFlight) prune() {
	if f.first == nil {
		f.dropped += uint64(len(f.log))
		clear(f.log)
		f.log = f.log[:0]
		return
	}
	n := f.first.flight.start - f.dropped
	clear(f.log[:n])
	f.log = f.log[n:]
	f.dropped += n
}

func (f *inFlight) record(c extpoints.Change) { f.log = append(f.log, c) }

func (f *inFlight) recordIfAny(c *extpoints.Change) {
	if f.first != nil {
		f.record(*c)
	}
}

// Done ends the flight of a workload that does not come back: it was bound, or
// it is gone. From then on events are no longer remembered for it. Calling it
// for a workload that is not in flight does nothing.
func (q *Queue) Done(id string) {
	if it := q.inFlight.end(id); it != nil {
		q.settle(it, None, labelled(Finished, time.Time{}))
	}
}

// replay judges an item that has just failed by the events of its flight. An
// error is worth another attempt whatever happened, and so is a rejection after
// Done, since by then nobody looked out for events.
func (q *Queue) replay(it *Item) (verdict, string) {
	f := q.inFlight.byID[it.ID()]
	if !it.rejected() || f == nil {
		return afterBackoff, ""
	}
	best, by := skip, ""
	for i := f.flight.start - q.inFlight.dropped; i < uint64(len(q.inFlight.log)); i++ {
		v, plugin := q.worth(it, &q.inFlight.log[i])
		if v > best {
			best, by = v, plugin
		}
		if best == immediately || (best == afterBackoff && len(it.PendingPlugins) == 0) {
			break
		}
	}
	return best, by
}
