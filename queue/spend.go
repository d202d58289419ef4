package queue

import (
	ledgers "github.com/berth-project/berth/queue/share"
)

// entry is that of the part in the book of the queue above, of no resource.
func (p *part) entry() entry {
	if p.queue != nil {
		return entry{Queue: p.name}
	}
	return entry{Principal: p.name}
}

// recall finds what the part has used, if the queue above has a book.
func (t *tree) recall(p *part) {
	p.entries, p.bill = nil, 0
	if p.parent == nil || p.parent.book == nil {
		return
	}
	of := p.entry()
	if n, known := p.parent.book.entries[of]; known {
		p.bill = n + 1
	}
	for r, name := range t.names {
		of.Resource = name
		if n, known := p.parent.book.entries[of]; known {
			p.entries = grown(p.entries, r)
			p.entries[r] = n + 1
		}
	}
}

// number is that of the part's entry of the resource in the book of the queue above, below 0
// where there is none. Without a resource it is the one by prices.
func (t *tree) number(p *part, r int) int {
	switch {
	case r < 0 && p.bill > 0:
		return p.bill - 1
	case r >= 0 && r < len(p.entries) && p.entries[r] > 0:
		return p.entries[r] - 1
	}
	of := p.entry()
	if r >= 0 {
		of.Resource = t.names[r]
	}
	n, known := p.parent.book.entries[of]
	if !known {
		if t.borrowed {
			return -1
		}
		n = p.parent.book.number(of)
	}
	if r < 0 {
		p.bill = n + 1
	} else {
		p.entries = grown(p.entries, r)
		p.entries[r] = n + 1
	}
	return n
}

// cost is what the amounts cost in each moment.
func (t *tree) cost(b *book, used func(r int) int64) (cost int64) {
	for r, name := range t.names {
		cost = min(saturated(cost, b.priced(name, used(r))), b.most)
	}
	return cost
}

// rates calls f with what the part uses now.
func (t *tree) rates(p *part, f func(n int, rate int64)) {
	b := p.parent.book
	if len(b.prices) > 0 {
		if cost := t.cost(b, p.usedOf); cost > 0 || p.bill > 0 {
			f(t.number(p, -1), cost)
		}
		return
	}
	for r := range p.used {
		if used := p.usedOf(r); used > 0 || r < len(p.entries) && p.entries[r] > 0 {
			f(t.number(p, r), min(used, b.most))
		}
	}
}

// spend notes in the book of the queue above, if it has one, that the part uses more or less
// than before.
func (t *tree) spend(p *part) {
	if t.borrowed || p.parent == nil || p.parent.book == nil {
		return
	}
	t.rates(p, func(n int, rate int64) { setRate(p.parent.book.ledger, n, t.history.tick, rate) })
}

// pastOf is the key of the part by the book of the queue above. What is charged only for a look
// ahead counts from the beginning of the interval on, so that a look comes to the same whenever it is
// taken until something changes.
func (t *tree) pastOf(p *part) past {
	b := p.parent.book
	by := func(n int, used int64) ledgers.Uint128 {
		if n >= 0 {
			used -= b.ledger.Rate(n)
		}
		return b.ledger.TotalBy(n, b.until, used, b.since)
	}
	if len(b.prices) > 0 {
		return past{by(t.number(p, -1), t.cost(b, p.usedOf)), 1}
	}
	most := past{of: 1}
	for r := range max(len(p.used), len(p.entries)) {
		used := min(p.usedOf(r), b.most)
		if used == 0 && (r >= len(p.entries) || p.entries[r] == 0) {
			continue
		}
		s := past{used: by(t.number(p, r), used)}
		if r < len(t.capacity) {
			s.of = t.capacity[r].amount()
		}
		if most.compareWeighted(1, s, 1) < 0 {
			most = s
		}
	}
	return most
}
