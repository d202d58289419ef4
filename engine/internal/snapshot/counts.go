package snapshot

import (
	"cmp"
	"slices"
	"sort"
)

// counts is a persistent [extpoints.Counts]: pairs of slot and count, in the
// order of the slots, in blocks. It belongs to a [member], and is copied with it.
//
// A pair is 8 bytes, and blocks are three quarters full on average, so a class
// costs some 11 bytes for each node that it is on, be that one node or all. To
// add one more copies a block and the list of blocks: 1.4 KB of a class that is
// on all of 5,000 nodes, 2.5 KB on 20,000.
//
// Arrays of plain counts for a range of slots each would be half of that where a
// class is on every node, and need no search. They cost the whole range where it
// is on one node of it, and there are more classes of that sort.
type counts struct {
	total int
	// few are the pairs while one block holds them all. They belong to whom
	// the member belongs to.
	few  []pair
	many *blocks
}

type pair struct{ slot, count int32 }

// blocks are the pairs in more than one block. It belongs to whom the member
// belongs to.
type blocks struct {
	// first says where to look for a slot: in the last block whose first is
	// not greater; first[0] is 0. It is never changed, only replaced.
	first []int32
	list  []*block
}

type block struct {
	tok   *token
	pairs []pair
}

const (
	// blockSize is the largest number of pairs in a block.
	blockSize = 128
	// A block that has fewer pairs than blockLow is united with a neighbour if
	// the two have no more than blockHigh.
	blockLow  = blockSize / 4
	blockHigh = blockSize * 3 / 4
)

// Total implements [extpoints.Counts].
func (c *counts) Total() int { return c.total }

// AddTo implements [extpoints.Counts].
func (c *counts) AddTo(sums []int32) {
	for _, p := range c.few {
		sums[p.slot] += p.count
	}
	if c.many == nil {
		return
	}
	for _, b := range c.many.list {
		for _, p := range b.pairs {
			sums[p.slot] += p.count
		}
	}
}

// Each implements [extpoints.Counts].
func (c *counts) Each(f func(slot, count int32)) {
	for _, p := range c.few {
		f(p.slot, p.count)
	}
	if c.many == nil {
		return
	}
	for _, b := range c.many.list {
		for _, p := range b.pairs {
			f(p.slot, p.count)
		}
	}
}

// copy returns counts that can be changed without touching c.
func (c *counts) copy() counts {
	own := *c
	own.few = slices.Clone(c.few)
	if c.many != nil {
		own.many = &blocks{first: c.many.first, list: slices.Clone(c.many.list)}
	}
	return own
}

// add adds to the count of the slot, which must not become negative. c is the
// token owner's own.
func (c *counts) add(tok *token, slot, by int32) {
	c.total += int(by)
	if c.many != nil {
		c.addMany(tok, slot, by)
		return
	}
	c.few = addPair(c.few, slot, by)
	if len(c.few) > blockSize {
		c.many = &blocks{first: []int32{0}, list: []*block{{tok: tok, pairs: c.few}}}
		c.few = nil
		c.many.split(tok, 0, slot)
	}
}

func (c *counts) addMany(tok *token, slot, by int32) {
	m := c.many
	i := sort.Search(len(m.first), func(i int) bool { return m.first[i] > slot }) - 1
	b := m.own(tok, i)
	b.pairs = addPair(b.pairs, slot, by)
	switch {
	case len(b.pairs) > blockSize:
		m.split(tok, i, slot)
	case len(b.pairs) < blockLow:
		m.unite(tok, i)
		if len(m.list) == 1 {
			c.few, c.many = m.list[0].pairs, nil
		}
	}
}

// addPair adds to the count of the slot in a list of the caller's own.
func addPair(pairs []pair, slot, by int32) []pair {
	i, found := slices.BinarySearchFunc(pairs, slot, func(p pair, slot int32) int { return cmp.Compare(p.slot, slot) })
	switch {
	case !found:
		return slices.Insert(pairs, i, pair{slot, by})
	case pairs[i].count+by == 0:
		return slices.Delete(pairs, i, i+1)
	}
	pairs[i].count += by
	return pairs
}

func (m *blocks) own(tok *token, i int) *block {
	b := m.list[i]
	if b.tok != tok {
		b = &block{tok: tok, pairs: slices.Clone(b.pairs)}
		m.list[i] = b
	}
	return b
}

// split makes two of the block, in which the slot was put. Where that was the
// greatest of all, as when a fleet is filled for the first time, the block stays
// full.
func (m *blocks) split(tok *token, i int, slot int32) {
	left := m.list[i]
	at := len(left.pairs) / 2
	if last := len(left.pairs) - 1; i == len(m.list)-1 && left.pairs[last].slot == slot {
		at = last
	}
	right := &block{tok: tok, pairs: slices.Clone(left.pairs[at:])}
	left.pairs = slices.Clone(left.pairs[:at])
	m.list = slices.Insert(m.list, i+1, right)
	m.first = slices.Insert(slices.Clone(m.first), i+1, right.pairs[0].slot)
}

// unite puts the block and one beside it together, if they are small. An empty
// block always goes: whatever is beside it has no more than fits.
func (m *blocks) unite(tok *token, i int) {
	for _, left := range [2]int{i - 1, i} {
		if left < 0 || left+1 >= len(m.list) {
			continue
		}
		size := len(m.list[left].pairs) + len(m.list[left+1].pairs)
		if size > blockHigh && len(m.list[i].pairs) > 0 {
			continue
		}
		b := m.own(tok, left)
		b.pairs = append(b.pairs, m.list[left+1].pairs...)
		m.list = slices.Delete(m.list, left+1, left+2)
		m.first = slices.Delete(slices.Clone(m.first), left+1, left+2)
		return
	}
}
