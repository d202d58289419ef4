package snapshot

import "slices"

// layout is what the visiting order is made from. A slot is a number that a
// node has from when it comes until it is settled that it is gone; it spares
// the maps from changing with the order.
type layout struct {
	tok    *token
	place  []int32 // by slot
	free   []int32 // slots that are not in use
	zones  []*zone // in the order in which they were first seen
	byName pmap[*zone]
}

// zone holds the slots of its nodes in order of arrival.
type zone struct {
	tok   *token
	name  string
	slots []int32
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
	z = l.ownZone(z)
	z.slots = append(z.slots, slot)
}

// leave takes the slot out of the zone, and the zone out of the layout when
// that was its last.
func (l *layout) leave(name string, slot int32) {
	z, ok := l.byName.get(name)
	if !ok {
		return
	}
	if len(z.slots) == 1 {
		l.zones = without(l.zones, z)
		l.byName.unset(l.tok, name)
		return
	}
	z = l.ownZone(z)
	z.slots = without(z.slots, slot)
}

func without[T comparable](list []T, x T) []T {
	if i := slices.Index(list, x); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

func (l *layout) ownZone(z *zone) *zone {
	if z.tok == l.tok {
		return z
	}
	own := &zone{tok: l.tok, name: z.name, slots: slices.Clone(z.slots)}
	l.zones[slices.Index(l.zones, z)] = own
	l.byName.set(l.tok, z.name, own)
	return own
}

// order lists the slots of the n nodes in visiting order: the first of each
// zone, then the second of each, and so on; zones that have no more drop out.
func (l *layout) order(n int) []int32 {
	order := make([]int32, 0, n)
	zones := slices.Clone(l.zones)
	for i := 0; len(zones) > 0; i++ {
		rest := zones[:0]
		for _, z := range zones {
			if i < len(z.slots) {
				order = append(order, z.slots[i])
				rest = append(rest, z)
			}
		}
		zones = rest
	}
	return order
}
