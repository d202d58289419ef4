package snapshot

func (v *View) isSettled() bool {
	return len(v.touched) == 0 && v.places == v.settled && v.gone == 0 && len(v.removed) == 0
}

// Settle brings the visiting order and the image counts up to date with the
// patches. It does nothing where there were none. Nodes, Index and Branch call
// it.
func (v *View) Settle() {
	if len(v.touched) > 0 {
		v.refreshImages()
	}
	if !v.isSettled() {
		v.reorder()
	}
	if v.topologies == nil {
		v.topologies, v.former = &topologies{former: v.former}, nil
	}
}

// reorder forgets the nodes that are gone for good, and makes the order anew, as far as
// it may have changed, if some node came or went.
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

// shuffle moves every node to its place in visiting order, from the first stale turn on.
// The chunks before stay as they are.
func (v *View) shuffle(l *layout) {
	first := l.before(l.stale)
	old := v.chunks
	v.chunks, v.chunksTok = make([]*chunk, (v.live+chunkMask)>>chunkBits), l.tok
	whole := copy(v.chunks, old[:first>>chunkBits])
	for to := whole << chunkBits; to < first; to++ {
		v.move(to, old, to)
	}
	for i, slot := range l.order(l.stale, v.live-first) {
		v.move(first+i, old, int(l.place[slot]))
		l.place[slot] = int32(first + i)
	}
	l.stale = noTurn
	for kind := range v.lists {
		v.lists[kind] = new(nodeList)
	}
}

// move copies what is at place from of the old chunks to place to, the first of its
// chunk or right behind the one before.
func (v *View) move(to int, old []*chunk, from int) {
	if to&chunkMask == 0 {
		v.chunks[to>>chunkBits] = &chunk{tok: v.chunksTok}
	}
	v.chunks[to>>chunkBits].take(to&chunkMask, old[from>>chunkBits], from&chunkMask)
}

// Arrivals lists the nodes by zone, in the order of the zones and of their arrival in
// each: put in this order, they have this visiting order, but for a node that has
// changed its zone since that was made.
func (v *View) Arrivals() []string {
	v.Settle()
	names := make([]string, 0, v.live)
	for _, z := range v.layout.zones {
		for _, slot := range z.slots {
			names = append(names, v.info(int(v.layout.place[slot])).Node.Name)
		}
	}
	return names
}

// refreshImages brings the image states of the nodes that were touched up to date.
func (v *View) refreshImages() {
	for _, place := range v.touched {
		v.images.refresh(v.chunks[place>>chunkBits], int(place&chunkMask))
	}
	v.touched = v.touched[:0]
}
