package queue

import "slices"

// first is the first of the class that waits, nil for none.
func (c *alike) first(ahead func(a, b *Item) bool) (first *Item) {
	for _, f := range c.fronts {
		if first == nil || ahead(f.items[0], first) {
			first = f.items[0]
		}
	}
	return first
}

// joinFront puts an item that waits among those of its class that wait for the same.
func (c *alike) joinFront(it *Item, ahead func(a, b *Item) bool) {
	it.unlink()
	it.front = c.frontOf(it)
	at, _ := slices.BinarySearchFunc(it.front.items, it, func(a, b *Item) int {
		if ahead(a, b) {
			return -1
		}
		return 1
	})
	it.front.items = slices.Insert(it.front.items, at, it)
}

// frontOf is the front in which the item belongs, which may be new.
func (c *alike) frontOf(it *Item) *front {
	for _, f := range c.fronts {
		if slices.EqualFunc(f.regs, it.rejectors, func(x frontAt, y rejector) bool { return x.reg == y.reg && x.pending == y.pending }) {
			return f
		}
	}
	f := &front{}
	c.fronts = append(c.fronts, f)
	for _, j := range it.rejectors {
		f.regs = append(f.regs, frontAt{j.reg, j.pending, len(j.reg.fronts)})
		j.reg.fronts = append(j.reg.fronts, f)
	}
	return f
}

// leaveFront takes an item out that waits no more, or has no class any more.
func (c *alike) leaveFront(it *Item) {
	f := it.front
	it.front = nil
	at := slices.Index(f.items, it) // mostly the first
	f.items = slices.Delete(f.items, at, at+1)
	if len(f.items) == 0 {
		c.fronts = slices.DeleteFunc(c.fronts, func(other *front) bool { return other == f })
		f.end()
	}
}

// end takes the front out of the registrations.
func (f *front) end() {
	for _, at := range f.regs {
		list := at.reg.fronts
		last := list[len(list)-1]
		list[at.index] = last
		for i := range last.regs {
			if last.regs[i].reg == at.reg {
				last.regs[i].index = at.index
			}
		}
		list[len(list)-1] = nil
		at.reg.fronts = list[:len(list)-1]
	}
}

// pickFronts picks the first of each front of the registrations, once.
func (q *Queue) pickFronts(regs []*registration) {
	q.asks++
	for _, r := range regs {
		for _, f := range r.fronts {
			if f.asked != q.asks {
				f.asked = q.asks
				q.picked = append(q.picked, f.items[0])
			}
		}
	}
}
