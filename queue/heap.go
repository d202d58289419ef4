package queue

// heap is a binary heap of items that know their own index, so that any of them
// can be fixed or removed without a search.
//
// Where less calls two items equal, the order in which they come out is exactly
// that of container/heap, because it is visible: kube-scheduler keeps those that
// back off in such heaps, and their backoffs end in the same second. So the sift
// rules here are not free to be improved.
type heap struct {
	items []*Item
	less  func(a, b *Item) bool
}

func (h *heap) len() int { return len(h.items) }

func (h *heap) all() []*Item { return h.items }

// first returns the least item, nil where there is none.
func (h *heap) first() *Item {
	if len(h.items) == 0 {
		return nil
	}
	return h.items[0]
}

func (h *heap) push(it *Item) {
	it.index = len(h.items)
	h.items = append(h.items, it)
	h.up(it.index)
}

// pop removes and returns the least item, nil where there is none.
func (h *heap) pop() *Item {
	it := h.first()
	if it != nil {
		h.remove(it)
	}
	return it
}

// remove takes out an item that is in the heap.
func (h *heap) remove(it *Item) {
	i, last := it.index, len(h.items)-1
	if i != last {
		h.swap(i, last)
		if !h.down(i, last) && i > 0 {
			h.up(i)
		}
	}
	h.items[last] = nil
	h.items = h.items[:last]
}

// fix restores the order after an item in the heap has changed.
func (h *heap) fix(it *Item) {
	if !h.down(it.index, len(h.items)) {
		h.up(it.index)
	}
}

func (h *heap) swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	h.items[i].index = i
	h.items[j].index = j
}

func (h *heap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(h.items[i], h.items[parent]) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

// down moves item i towards the end of the first n items as far as it must go,
// and reports whether it moved.
func (h *heap) down(i, n int) bool {
	start := i
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if right := child + 1; right < n && h.less(h.items[right], h.items[child]) {
			child = right
		}
		if !h.less(h.items[child], h.items[i]) {
			break
		}
		h.swap(i, child)
		i = child
	}
	return i > start
}

func expiresBefore(a, b *Item) bool { return a.BackoffExpiration.Before(b.BackoffExpiration) }

// waitsLonger is the order of timeouts.
func waitsLonger(a, b *Item) bool {
	if s, t := a.waitsSince(), b.waitsSince(); !s.Equal(t) {
		return s.Before(t)
	}
	return a.seq < b.seq
}
