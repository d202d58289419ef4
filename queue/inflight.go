package queue

import "github.com/berth-project/berth/extpoints"

// inFlight knows the items that are popped and not done, and the events since
// the oldest of them was popped. Each item remembers where in the log it
// started; what is before the start of the oldest is forgotten.
type inFlight struct {
	byID        map[string]*Item
	first, last *Item // in the order in which they were popped
	log         []extpoints.Event
	dropped     uint64 // how many events came before log[0]
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

// leads reports whether others wait behind an item in flight of the class.
func (f *inFlight) leads(class string) bool {
	for it := f.first; it != nil; it = it.flight.next {
		if it.leads == class {
			return true
		}
	}
	return false
}

func (f *inFlight) record(c extpoints.Event) { f.log = append(f.log, c) }

func (f *inFlight) recordIfAny(c *extpoints.Event) {
	if f.first != nil {
		f.record(*c)
	}
}
