package timeline

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/berth-project/berth/queue"
)

// line is what was tried and not placed. Its order is that of the queue where that stays. With the
// order by queues it is that of their turns, which is another with each charge.
type line struct {
	less    func(a, b *queue.Item) bool
	turns   *queue.Turns  // nil where the order stays
	waiting []*queue.Item // by less
	byID    map[string]*queue.Item
	last    lastAhead
}

// lastAhead is what ahead has found last: an attempt asks for the same several times.
type lastAhead struct {
	version uint64 // of the turns
	list    []Reservation
	it      *queue.Item
	found   []Reservation
}

func (l *lastAhead) of(version uint64, list []Reservation, it *queue.Item) bool {
	return l.it == it && l.version == version && len(l.list) == len(list) && len(list) > 0 && &l.list[0] == &list[0]
}

// join takes the item in. It reports whether it was not there.
func (l *line) join(it *queue.Item) bool {
	if l.turns != nil {
		l.turns.Put(it)
	}
	if l.byID[it.ID()] != nil {
		return false
	}
	l.byID[it.ID()] = it
	l.waiting = slices.Insert(l.waiting, l.position(it), it)
	return true
}

// leave takes out what has the ID. It reports whether it was there.
func (l *line) leave(id string) bool {
	it := l.byID[id]
	if it == nil {
		return false
	}
	if l.turns != nil {
		l.turns.Drop(id)
	}
	delete(l.byID, id)
	l.waiting = slices.DeleteFunc(l.waiting, func(o *queue.Item) bool { return o == it })
	return true
}

// position is how many are before the item where the order stays.
func (l *line) position(it *queue.Item) int {
	i, _ := slices.BinarySearchFunc(l.waiting, it, func(a, it *queue.Item) int {
		if l.less(a, it) {
			return -1
		}
		return 1
	})
	return i
}

// all are those that wait, in order. What a quota or a limit holds back by its turn is not
// among them.
func (l *line) all() iter.Seq[*queue.Item] {
	if l.turns == nil {
		return slices.Values(l.waiting)
	}
	return func(yield func(*queue.Item) bool) {
		for it := range l.turns.All() {
			// The queue itself adds what it holds back, which nobody has tried.
			if l.byID[it.ID()] == it && !yield(it) {
				return
			}
		}
	}
}

// leads reports whether the item, which need not be there, is before all of them.
func (l *line) leads(it *queue.Item) bool {
	switch {
	case len(l.waiting) == 0:
		return true
	case l.turns == nil:
		return l.waiting[0] == it || l.less(it, l.waiting[0])
	}
	for other := range l.turns.Before(it) {
		if l.byID[other.ID()] == other {
			return false
		}
	}
	return true
}

// ahead lists those of the reservations whose turn comes before the item's, which need not be in
// the line; among the first so many.
func (l *line) ahead(list []Reservation, it *queue.Item, depth int) []Reservation {
	if l.turns == nil {
		for i := range list {
			if other := l.byID[list[i].ID()]; other == it || !l.less(other, it) {
				return list[:i]
			}
		}
		return list
	}
	version := l.turns.Version()
	if l.last.of(version, list, it) {
		return l.last.found
	}
	behind := byID(list)
	for other := range l.turns.Before(it) {
		delete(behind, other.ID())
		if depth--; depth <= 0 || len(behind) == 0 {
			break
		}
	}
	found := slices.DeleteFunc(slices.Clone(list), func(r Reservation) bool {
		_, is := behind[r.ID()]
		return is
	})
	l.last = lastAhead{version, list, it, found}
	return found
}

// callable are the IDs by which the queue is asked to let them try again: for a tree of groups that
// of a member.
func (l *line) callable(ids []string) []string {
	for i, id := range ids {
		if it := l.byID[id]; it.Group != nil && len(it.Members) > 0 {
			ids[i] = it.Members[0].ID()
		}
	}
	return ids
}

// crowdedBy returns what looks for the first of the reservations that a quota or a limit would not
// let start in time if the item had started now, as the entity says. Nothing else is
// foreseen of quotas and limits than who has reservations: what is used now stays used,
// and what those before it will use counts.
func (l *line) crowdedBy(list []Reservation, it *queue.Item, p *Plan) func(*Entity) *Reservation {
	if l.turns == nil || len(list) == 0 {
		return func(*Entity) *Reservation { return nil }
	}
	items := append(make([]*queue.Item, 0, 1+len(list)), it)
	for i := range list {
		items = append(items, l.byID[list[i].ID()])
	}
	var asked time.Time
	var said *Reservation
	return func(e *Entity) *Reservation {
		ends := e.Ends(p.now)
		if ends.Equal(asked) {
			return said
		}
		asked, said = ends, nil
		if i, held := l.turns.Crowded(items, func(i int) bool { return i > 0 && list[i-1].At.Before(ends) }); i >= 0 {
			r := list[i-1]
			r.Held, said = held, &r
		}
		return said
	}
}

// crowding is the same for a plan, for something that waits and would start at the time: those with
// a reservation until then have started before it, and nobody else has. Its turn counts on more than
// that: on what fits at no time, or starts later, and has not yet taken what its queue keeps for it. It
// returns when the first starts that could not, or, where that is itself, when the next does, and the
// queue or limit that would hold it back; empty for none. It is nil where all that have their turns have
// room in any order.
func (l *line) crowding() func(e *Entity, at time.Time, list []Reservation) (time.Time, string) {
	if l.turns == nil || !l.turns.Lends() {
		return nil
	}
	return func(e *Entity, at time.Time, list []Reservation) (time.Time, string) {
		ends := e.Ends(at)
		var items []*queue.Item
		var later []time.Time
		for i := range list {
			if !list[i].At.After(at) {
				items = append(items, l.byID[list[i].ID()])
			}
		}
		started := len(items)
		items = append(items, l.byID[e.ID()])
		for i := range list {
			if list[i].At.After(at) {
				items, later = append(items, l.byID[list[i].ID()]), append(later, list[i].At)
			}
		}
		i, held := l.turns.Crowded(items, func(i int) bool { return i == started || i > started && later[i-started-1].Before(ends) })
		switch {
		case i < 0:
			return time.Time{}, ""
		case i == started:
			return slices.MinFunc(append(later, Never), time.Time.Compare), cmp.Or(held.Limit, held.Queue)
		}
		return later[i-started-1], cmp.Or(held.Limit, held.Queue)
	}
}
