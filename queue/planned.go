package queue

import (
	"iter"
	"maps"
	"slices"

	"github.com/berth-project/berth/model"
)

// Turns is the order of workloads that wait for room, where the order is by queues: that in
// which they would be popped if each that is popped were charged to its queue at once. A plan
// gives them reservations in this order; see [Queue.Turns].
//
// It is a tree of its own beside that of the active items, with the same definitions and the same
// charges, so that to look ahead leaves the queue as it is. Each look takes items out of it, charges
// them, and undoes both, in time in proportion to how many it has looked at.
type Turns struct {
	tree    *tree
	active  *tree // that of the queue
	waiting map[string]*turn
	touched []*turn
	looking bool  // a look is under way
	asked   *turn // the one that Before looks for
	// order is how far it is known since anything has changed, for all who look; ended: there is
	// no more.
	order   []*Item
	ended   bool
	begun   []begun
	held    map[*part]begun // as of NoteHeld
	never   map[string]begun
	version uint64
}

// turn is an item among those that wait.
type turn struct {
	of    *Turns
	item  *Item
	copy  *Item // in the tree
	stale bool  // the item has changed since it was copied
	// withheld: it is active, and a quota or a limit holds it back. It was not put here by those
	// who ask for the turns, but those behind it do not pass it here either.
	withheld bool
}

// begun is a hold that a look has begun: of the part, because of the item that is next in it; or of
// the item alone, if it could never have its turn.
type begun struct {
	*hold
	never bool
	said  *Held // of one that goes by what the queue holds
}

// turnsOf makes the order of workloads that wait for room in the queue of the active ones, none
// at first.
func turnsOf(active *tree) *Turns {
	t := &Turns{
		tree: active.withoutItems(), active: active,
		waiting: map[string]*turn{}, held: map[*part]begun{}, never: map[string]begun{},
	}
	active.onHold = t.heldInQueue
	for _, h := range active.top.holds() {
		t.heldInQueue(h)
	}
	return t
}

// heldInQueue takes in the active item because of which a part of the queue is held.
func (t *Turns) heldInQueue(h *hold) {
	h.ended = t.changed
	t.changed()
	if t.waiting[h.item.ID()] == nil {
		t.Put(h.item)
		t.waiting[h.item.ID()].withheld = true
	}
}

// release takes it out when it is active no more.
func (t *Turns) release(it *Item) {
	if t == nil {
		return
	}
	if w := t.waiting[it.ID()]; w != nil && w.item == it && w.withheld {
		t.Drop(it.ID())
	}
}

// withoutItems is a tree of the same definitions, in which the same is charged and nothing
// waits.
func (t *tree) withoutItems() *tree {
	t.remember() // if it has not been yet
	c := newTree(t.before)
	c.history, c.borrowed = t.history, true
	c.queues, c.principals, c.limits = maps.Clone(t.queues), maps.Clone(t.principals), maps.Clone(t.limits)
	c.capacity, c.resources, c.names = slices.Clone(t.capacity), maps.Clone(t.resources), slices.Clone(t.names)
	for key, leaf := range t.leaves {
		l := newPart(leaf.name)
		l.leaf = &leafPart{key: key, items: heap{less: t.before}, running: leaf.leaf.running}
		l.used = slices.Clone(leaf.used)
		c.leaves[key] = l
	}
	c.rebuild()
	return c
}

// Put takes the item in, or notes that it may have changed.
func (t *Turns) Put(it *Item) {
	id := it.ID()
	if old := t.waiting[id]; old != nil && old.item == it {
		old.withheld = false
		old.touch()
		return
	}
	t.Drop(id)
	w := &turn{of: t, item: it, copy: copyOf(it)}
	it.changed, t.waiting[id] = w.touch, w
	t.tree.push(w.copy)
	t.changed()
}

// Drop takes it out again.
func (t *Turns) Drop(id string) {
	w := t.waiting[id]
	if w == nil {
		return
	}
	w.item.changed = nil
	delete(t.waiting, id)
	t.tree.remove(w.copy)
	t.changed()
}

// copyOf is what the tree needs of an item.
func copyOf(it *Item) *Item {
	c := &Item{Queued: it.Queued, submitted: it.submitted, Members: slices.Clone(it.Members)}
	return c
}

// touch notes that the item has changed.
func (w *turn) touch() {
	if w.stale {
		return
	}
	w.stale = true
	w.of.touched = append(w.of.touched, w)
	w.of.changed()
}

// changed forgets what is known of the order.
func (t *Turns) changed() {
	t.version++
	t.order, t.ended, t.begun = nil, false, nil
}

// follow carries out on the tree of the turns what happens to that of the queue. A nil
// Turns has none.
func (t *Turns) follow(carryOut func(*tree)) {
	if t != nil {
		carryOut(t.tree)
		t.changed()
	}
}

// Version differs where the order may be another than before.
func (t *Turns) Version() uint64 { return t.version }

// refresh brings the tree up to date.
func (t *Turns) refresh() {
	if t.looking {
		panic("queue: a look at the turns within another")
	}
	for _, w := range t.touched {
		if w.stale = false; t.waiting[w.item.ID()] != w {
			continue
		}
		t.tree.remove(w.copy)
		w.copy = copyOf(w.item)
		t.tree.push(w.copy)
	}
	t.touched = t.touched[:0]
	if t.tree.stale {
		t.tree.rebuild()
	}
}

// All yields the items in the order of their turns. Those in parts that a quota or a limit holds
// back are not among them, counted as if those before them had got their room and
// nothing had ended; see NoteHeld. The Turns must not be asked or told anything meanwhile.
func (t *Turns) All() iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		seen := 0
		for ; seen < len(t.order); seen++ {
			if !yield(t.order[seen]) {
				return
			}
		}
		if t.ended {
			return
		}
		n := 0
		t.begun, t.ended = t.look(func(c *Item) bool {
			if n++; n <= seen {
				return true
			}
			w := t.waiting[c.ID()]
			t.order = append(t.order, w.item)
			return yield(w.item)
		})
	}
}

// Before yields those of the items that have their turn before the one, which need not be
// among them: all of which there are any where it is held back.
func (t *Turns) Before(it *Item) iter.Seq[*Item] {
	if w := t.waiting[it.ID()]; w != nil {
		return func(yield func(*Item) bool) {
			for other := range t.All() {
				if other == w.item || !yield(other) {
					return
				}
			}
		}
	}
	return func(yield func(*Item) bool) {
		c := copyOf(it)
		t.tree.push(c)
		t.asked = &turn{item: it, copy: c}
		t.look(func(other *Item) bool { return other != c && yield(t.waiting[other.ID()].item) })
		t.asked = nil
		t.tree.remove(c)
	}
}

// sort sorts the items, which need not be among those that wait, by their turns if all of them
// waited, with those last that are held back. It only looks: the version stays.
func (t *Turns) sort(list []*Item) {
	var added []*turn
	for _, it := range list {
		if t.waiting[it.ID()] == nil {
			w := &turn{of: t, item: it, copy: copyOf(it)}
			added, t.waiting[it.ID()] = append(added, w), w
			t.tree.push(w.copy)
		}
	}
	place := make(map[*Item]int, len(list))
	t.look(func(c *Item) bool {
		place[t.waiting[c.ID()].item] = len(place) - len(list)
		return true
	})
	for _, w := range added {
		delete(t.waiting, w.item.ID())
		t.tree.remove(w.copy)
	}
	slices.SortStableFunc(list, func(a, b *Item) int { return place[a] - place[b] }) // 0: held back
}

// look yields the copies in the order of their turns, each of which is charged then, and puts
// all back as it was. It returns the holds that it has begun and that are not over in the end, and
// whether it has come to that. What comes out depends on nothing but what waits, what is charged and what is defined.
func (t *Turns) look(yield func(*Item) bool) (holds []begun, ended bool) {
	t.refresh()
	t.looking = true
	var taken, charged []*Item
	defer func() {
		holds = slices.DeleteFunc(holds, func(h begun) bool { return !h.never && h.part.held != h.hold }) // over by now
		for _, h := range holds {
			if h.part.held == h.hold {
				h.end()
				h.part.offer()
			}
		}
		for _, c := range charged {
			t.account(c, false)
		}
		for _, c := range taken {
			t.tree.push(c)
		}
		t.looking = false
	}()
	for c := t.tree.top.head; c != nil; c = t.tree.top.head {
		h := t.tree.check(c.at, c, false)
		said := t.withhold(c)
		switch {
		case said.hold != nil:
			said.begin()
			holds = append(holds, said)
		case h == nil && !yield(c):
			return holds, false
		case h == nil:
			t.tree.remove(c)
			taken, charged = append(taken, c), append(charged, c)
			t.account(c, true)
		case t.tree.check(c.at, c, true) != nil: // it is in nobody's way; its next attempt gates it
			t.tree.remove(c)
			taken, holds = append(taken, c), append(holds, begun{hold: h, never: true})
		default:
			h.begin()
			holds = append(holds, begun{hold: h})
		}
	}
	return holds, true
}

// withhold returns the hold, to be begun, of the part that the queue itself holds and that the copied
// item is in, which is active; none where there is no such part. Most often that part is held by its
// turn, too; but what is guaranteed to others becomes less with what those before it are
// charged here, who have not started.
func (t *Turns) withhold(c *Item) begun {
	w := t.waiting[c.ID()]
	if w == nil {
		w = t.asked
	}
	if w == nil || w.copy != c || w.item.at == nil {
		return begun{}
	}
	for p := w.item.at; p != nil; p = p.parent {
		if p.held == nil || p.held.pinned {
			continue
		}
		here := c.at
		if p.queue != nil {
			here = t.tree.parts[p.name]
		}
		return begun{&hold{part: here, item: c, list: &here.waiters}, false, t.active.describe(p.held, false)}
	}
	return begun{}
}

// account charges all of the item, for a look, or takes that back.
func (t *Turns) account(c *Item, charge bool) {
	t.tree.looking = true
	c.each(func(w *model.Workload) {
		if charge {
			t.tree.charge(charged{Workload: w})
		} else {
			t.tree.discharge(w)
		}
	})
	t.tree.looking = false
}

// NoteHeld notes, for Held, what All has found to be held, as far as it was asked since anything
// has changed.
func (t *Turns) NoteHeld() {
	clear(t.held)
	clear(t.never)
	for _, h := range t.begun {
		if h.never {
			t.never[h.item.ID()] = h
		} else {
			t.held[h.part] = h
		}
	}
}

// Held says what holds the item back, or the one before it in a part that it is in too, as of
// NoteHeld; nil where nothing does, and where it is not among those that wait for room.
// Ask it of those that have had no turn.
func (t *Turns) Held(id string) *Held {
	w := t.waiting[id]
	if w == nil {
		return nil
	}
	if missing := w.copy.at.leaf.missing; missing != nil {
		return missing
	}
	if h, is := t.never[id]; is {
		return t.tree.describe(h.hold, true)
	}
	for p := w.copy.at; p != nil; p = p.parent {
		if h, is := t.held[p]; is && h.said != nil {
			return h.said
		} else if is {
			return t.tree.describe(h.hold, false)
		}
	}
	return nil
}

// Crowded looks for the first of the items that would be held back if they got their room in this
// order, and says what would hold it back. It looks at those that wait and matter; all are charged.
func (t *Turns) Crowded(items []*Item, matters func(i int) bool) (int, *Held) {
	t.refresh()
	var charged []*Item
	defer func() {
		for _, c := range charged {
			t.account(c, false)
		}
	}()
	for i, it := range items {
		var c *Item
		if w := t.waiting[it.ID()]; w == nil {
			c = copyOf(it)
		} else if c = w.copy; matters(i) {
			if h := t.tree.check(c.at, c, false); h != nil {
				h.item = c
				return i, t.tree.describe(h, false)
			}
		}
		t.account(c, true)
		charged = append(charged, c)
	}
	return -1, nil
}

// Lends reports whether any queue keeps for itself some of what it is guaranteed. Else those that
// have their turns one after the other have room for all of them in any order.
func (t *Turns) Lends() bool {
	t.refresh()
	return t.tree.lending
}
