package queue

import "slices"

// joinFront puts an item that waits among those of its class that wait for the same.
func (c *alike) joinFront(it *Item, ahead func(a, b *Item) bool) {
	i := slices.IndexFunc(c.fronts, func(f *front) bool { return waitForTheSame(f.first, it) })
	if i < 0 {
		i = len(c.fronts)
		c.fronts = append(c.fronts, &front{first: it})
	}
	f := c.fronts[i]
	it.front = f
	f.count++
	if f.first != it && ahead(it, f.first) {
		f.first.unlink()
		f.first = it
	}
	if f.first == it {
		it.link()
	} else {
		it.unlink()
	}
}

// leaveFront takes an item out that was at the index of those of the class that wait. Where it still
// waits events are offered to it.
func (c *alike) leaveFront(it *Item, at int) {
	f := it.front
	it.front = nil
	f.count--
	switch {
	case f.count == 0:
		c.fronts = slices.DeleteFunc(c.fronts, func(other *front) bool { return other == f })
	case f.first == it:
		next := slices.IndexFunc(c.waiting[at:], func(other *Item) bool { return other.front == f })
		f.first = c.waiting[at+next]
		f.first.link()
	}
	if it.place == Unschedulable {
		it.link()
	}
}

// waitForTheSame reports whether two items wait for the same plugins, in the same way.
func waitForTheSame(a, b *Item) bool {
	return slices.EqualFunc(a.rejectors, b.rejectors, func(x, y rejector) bool { return x.reg == y.reg && x.pending == y.pending })
}
