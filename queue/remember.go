package queue

import (
	"maps"
	"math"
	"slices"

	"github.com/berth-project/berth/model"
)

// remember has a book for each queue that goes by usage, and none for others.
func (t *tree) remember() {
	h := t.history
	if t.borrowed || h.tick == math.MinInt64 {
		return // it is before anything was told
	}
	maps.DeleteFunc(h.books, func(name string, _ *book) bool {
		q := t.queues[name]
		return q == nil || q.Policy != model.OrderUsage
	})
	for _, name := range slices.Sorted(maps.Keys(t.queues)) {
		q := t.queues[name]
		if q.Policy != model.OrderUsage {
			continue
		}
		halfLife := q.HalfLife.Milliseconds()
		switch b := h.books[name]; {
		case b == nil:
			h.books[name] = newBook(halfLife, h.tick)
		case b.ledger.HalfLife() != halfLife, len(b.list) > 64 && b.idle() > len(b.list)/2:
			h.books[name] = b.renewed(halfLife, h.tick)
		}
		h.books[name].prices = q.Prices
		h.books[name].begin(h.tick)
	}
	h.setDue()
}

// reckon says what the parts of queues with a book use now, and brings their keys up to date.
// What is in none of them any more uses nothing.
func (t *tree) reckon() {
	for _, name := range slices.Sorted(maps.Keys(t.history.books)) {
		p := t.parts[name]
		if p == nil || p.book == nil {
			continue
		}
		for _, kid := range p.kids {
			t.recall(kid)
		}
		if !t.borrowed {
			rates := map[int]int64{}
			for _, kid := range p.kids {
				t.rates(kid, func(n int, rate int64) { rates[n] = rate })
			}
			for n := range p.book.list {
				setRate(p.book.ledger, n, t.history.tick, rates[n])
			}
		}
		for _, kid := range p.kids {
			t.weigh(kid)
		}
	}
}
