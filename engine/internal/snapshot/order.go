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

// ownLayout returns the layout, ready to be changed. Copying it is linear in
// the number of nodes, like the rebuilding of the order that mostly follows,
// and happens once for any number of changes.
func (v *View) ownLayout() *layout {
	tok := v.own()
	if v.layout.tok != tok {
		old := v.layout
		v.layout = &layout{
			tok:    tok,
			place:  slices.Clone(old.place),
			free:   slices.Clone(old.free),
			zones:  slices.Clone(old.zones),
			byName: old.byName,
		}
	}
	return v.layout
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

// reorder forgets the nodes that are gone for good, and makes the order anew if
// some node came or went.
func (v *View) reorder() {
	l := v.ownLayout()
	for _, name := range v.removed {
		if slot, ok := v.slots.get(name); ok && v.info(int(l.place[slot])) == nil {
			v.slots.unset(l.tok, name)
			l.free = append(l.free, slot)
		}
	}
	clear(v.removed)
	v.removed = v.removed[:0]
	if v.added > 0 || v.gone > 0 {
		v.shuffle(l)
	}
	v.places, v.settled, v.added, v.gone = v.live, v.live, 0, 0
}

// shuffle moves every node to its place in visiting order.
func (v *View) shuffle(l *layout) {
	old := v.chunks
	v.chunks, v.chunksTok = make([]*chunk, (v.live+chunkMask)>>chunkBits), l.tok
	for to, slot := range l.order(v.live) {
		if to&chunkMask == 0 {
			v.chunks[to>>chunkBits] = &chunk{tok: l.tok}
		}
		from := l.place[slot]
		l.place[slot] = int32(to)
		v.chunks[to>>chunkBits].take(to&chunkMask, old[from>>chunkBits], int(from)&chunkMask)
	}
	for kind := range v.lists {
		v.lists[kind] = new(nodeList)
	}
}

// take copies what is at place from of the other chunk to place to of c.
func (c *chunk) take(to int, other *chunk, from int) {
	c.infos[to] = other.infos[from]
	c.images[to] = other.images[from]
	if other.tok == c.tok {
		c.owned |= other.owned >> from & 1 << to
	}
	for kind := range c.has {
		c.has[kind] |= other.has[kind] >> from & 1 << to
	}
}
