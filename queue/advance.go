package queue

import (
	stdheap "container/heap"
	"maps"
	"slices"
	"time"
)

// advance notes the time, and if intervals have begun brings the parts of those queues, which it
// returns, to where they belong.
func (t *tree) advance(now time.Time) (due []string) {
	h := t.history
	h.tick = max(h.tick, tickOf(now))
	if h.tick < h.due {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(h.books)) {
		if b := h.books[name]; b.next <= h.tick {
			b.begin(h.tick)
			due = append(due, name)
		}
	}
	h.setDue()
	t.rekey(due)
	return due
}

// rekey finds the keys of all parts of the queues anew.
func (t *tree) rekey(queues []string) {
	for _, name := range queues {
		p := t.parts[name]
		if p == nil || p.book == nil {
			continue
		}
		for _, kid := range p.kids {
			t.weigh(kid)
		}
		stdheap.Init(&p.turns)
	}
	for _, name := range queues {
		if p := t.parts[name]; p != nil && p.book != nil {
			p.offer()
		}
	}
}

// advance is that of the tree, and of the turns.
func (q *Queue) advance(now time.Time) {
	if q.tree == nil {
		return
	}
	before := q.tree.tick
	due := q.tree.advance(now)
	if due != nil || len(q.tree.metered) > 0 && q.tree.tick != before { // what is left of limits goes by the time
		q.turns.follow(func(t *tree) { t.rekey(due) })
	}
}
