package snapshot

import (
	"math"
	"slices"
)

// layout is what the visiting order is made from. A slot is a number that a
// node has from when it comes until it is settled that it is gone; it spares
// the maps from changing with the order.
type layout struct {
	tok    *token
	place  []int32 // by slot
	free   []int32 // slots that are not in use
	zones  []*zone // in the order in which they were first seen
	byName pmap[*zone]
	// stale is the first turn that may have come to another node since the order was
	// made. All turns before it are as they were.
	stale turn
}

// zone holds the slots of its nodes in order of arrival.
type zone struct {
	tok   *token
	name  string
	slots []int32
}

// turn is when a node is visited: in each round every zone that has a node left gives
// one, in the order of the zones. So it is the round and the index of the zone.
type turn struct{ round, zone int }

// noTurn is behind all others.
var noTurn = turn{math.MaxInt, 0}

// isStale notes that the turn may have come to another node.
func (l *layout) isStale(round, zone int) {
	if round < l.stale.round || round == l.stale.round && zone < l.stale.zone {
		l.stale = turn{round, zone}
	}
}

// newSlot returns a slot for a node at the place.
func (l *layout) newSlot(place int) int32 {
	if last := len(l.free) - 1; last >= 0 {
		slot := l.free[last]
		l.free = l.free[:last]
		l.place[slot] = int32(place)
		return slot
	}
	l.place = append(l.place, int32(place))
	return int32(len(l.place) - 1)
}

// join puts the slot at the end of the zone.
func (l *layout) join(name string, slot int32) {
	z, ok := l.byName.get(name)
	if !ok {
		z = &zone{tok: l.tok, name: name}
		l.zones = append(l.zones, z)
		l.byName.set(l.tok, name, z)
	}
	z, i := l.ownZone(z)
	l.isStale(len(z.slots), i)
	z.slots = append(z.slots, slot)
}

// leave takes the slot out of the zone, and the zone out of the layout when
// that was its last.
func (l *layout) leave(name string, slot int32) {
	z, ok := l.byName.get(name)
	if !ok {
		return
	}
	z, i := l.ownZone(z)
	round := slices.Index(z.slots, slot)
	if round < 0 {
		return
	}
	l.isStale(round, i)
	z.slots = slices.Delete(z.slots, round, round+1)
	if len(z.slots) == 0 {
		l.zones = slices.Delete(l.zones, i, i+1)
		l.byName.unset(l.tok, name)
	}
}

// ownZone returns the zone, ready to be changed, and its index.
func (l *layout) ownZone(z *zone) (*zone, int) {
	i := slices.Index(l.zones, z)
	if z.tok == l.tok {
		return z, i
	}
	// Room for one more: most copies are made for a node that comes.
	own := &zone{tok: l.tok, name: z.name, slots: append(make([]int32, 0, len(z.slots)+1), z.slots...)}
	l.zones[i] = own
	l.byName.set(l.tok, z.name, own)
	return own, i
}

// before is how many nodes have a turn before this one.
func (l *layout) before(t turn) (n int) {
	if t.round == 0 {
		return t.zone // each zone has a first
	}
	for i, z := range l.zones {
		if n += min(len(z.slots), t.round); i < t.zone && len(z.slots) > t.round {
			n++
		}
	}
	return n
}

// order lists the slots of n nodes in visiting order, beginning with the turn: the
// first of each zone, then the second of each, and so on; zones that have no more drop
// out.
func (l *layout) order(from turn, n int) []int32 {
	order := make([]int32, 0, n)
	for _, z := range l.zones[from.zone:] {
		if from.round < len(z.slots) {
			order = append(order, z.slots[from.round])
		}
	}
	if len(order) == n {
		return order
	}
	zones := slices.Clone(l.zones)
	for round := from.round + 1; len(order) < n; round++ {
		left := zones[:0]
		for _, z := range zones {
			if round < len(z.slots) {
				order = append(order, z.slots[round])
				left = append(left, z)
			}
		}
		zones = left
	}
	return order
}
