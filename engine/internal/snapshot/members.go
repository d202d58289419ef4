package snapshot

import "slices"

// members is an ordered set that Views share, like [list], for groups that may
// have thousands of members: in every cycle of one of them the View has changed
// hands, and a plain list would be copied each time. So it is kept in chunks, of
// which a change copies one.
type members[T any] struct {
	tok    *token
	chunks []memberChunk[T]
	count  int
}

type memberChunk[T any] struct {
	tok   *token
	items []T // never empty
}

// memberChunkSize is the most that a chunk has.
const memberChunkSize = 64

// find returns the chunk that the item belongs to, the place in it, and whether
// there is one that is equal in that order.
func (m members[T]) find(item T, order func(a, b T) int) (chunk, place int, found bool) {
	chunk, found = slices.BinarySearchFunc(m.chunks, item, func(c memberChunk[T], item T) int { return order(c.items[0], item) })
	if !found && chunk > 0 {
		chunk--
	}
	if chunk == len(m.chunks) {
		return chunk, 0, false
	}
	place, found = slices.BinarySearchFunc(m.chunks[chunk].items, item, order)
	return chunk, place, found
}

// owned returns the set with chunks that the owner of the token may exchange.
func (m members[T]) owned(tok *token) members[T] {
	if m.tok != tok {
		m.tok, m.chunks = tok, slices.Clone(m.chunks)
	}
	return m
}

// own makes the chunk one that the owner of the token may change.
func (c *memberChunk[T]) own(tok *token) {
	if c.tok != tok {
		c.tok, c.items = tok, append(make([]T, 0, len(c.items)+1), c.items...)
	}
}

// set returns the set with the item, instead of one that is equal to it.
func (m members[T]) set(tok *token, item T, order func(a, b T) int) members[T] {
	i, place, found := m.find(item, order)
	m = m.owned(tok)
	if i == len(m.chunks) {
		m.chunks = append(m.chunks, memberChunk[T]{tok, []T{item}})
		m.count++
		return m
	}
	c := &m.chunks[i]
	c.own(tok)
	if found {
		c.items[place] = item
		return m
	}
	c.items = slices.Insert(c.items, place, item)
	m.count++
	if len(c.items) > memberChunkSize {
		half := len(c.items) / 2
		upper := memberChunk[T]{tok, slices.Clone(c.items[half:])}
		clear(c.items[half:])
		c.items = c.items[:half]
		m.chunks = slices.Insert(m.chunks, i+1, upper)
	}
	return m
}

// unset returns the set without the item that is equal in that order.
func (m members[T]) unset(tok *token, item T, order func(a, b T) int) members[T] {
	i, place, found := m.find(item, order)
	if !found {
		return m
	}
	m = m.owned(tok)
	m.count--
	if len(m.chunks[i].items) == 1 {
		m.chunks = slices.Delete(m.chunks, i, i+1)
		return m
	}
	c := &m.chunks[i]
	c.own(tok)
	c.items = slices.Delete(c.items, place, place+1)
	return m
}

// all returns the items in order, in a list of the caller's own; nil for none.
func (m members[T]) all() []T {
	if m.count == 0 {
		return nil
	}
	list := make([]T, 0, m.count)
	for i := range m.chunks {
		list = append(list, m.chunks[i].items...)
	}
	return list
}

// memberSets are such sets by group. What a group has is replaced by set and unset.
type memberSets[T any] struct {
	byGroup pmap[*members[T]]
}

func (s *memberSets[T]) get(group string) members[T] {
	if m, ok := s.byGroup.get(group); ok {
		return *m
	}
	return members[T]{}
}

func (s *memberSets[T]) set(tok *token, group string, item T, order func(a, b T) int) {
	s.put(tok, group, s.get(group).set(tok, item, order))
}

func (s *memberSets[T]) unset(tok *token, group string, item T, order func(a, b T) int) {
	s.put(tok, group, s.get(group).unset(tok, item, order))
}

func (s *memberSets[T]) put(tok *token, group string, m members[T]) {
	if m.count == 0 {
		s.byGroup.unset(tok, group)
		return
	}
	kept := m // here, or m would be allocated in any case
	s.byGroup.set(tok, group, &kept)
}
