package snapshot

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// pmap is a persistent map with strings as keys: a hash trie of 32-way nodes.
// Copying the struct copies the map. A change copies the nodes on its path
// that do not carry the changer's token and changes those that do in place, so
// a long run of changes by one owner costs about what a plain map does.
//
// each is in no order that anybody may depend on.
type pmap[V any] struct {
	root *pnode[V]
}

type pnode[V any] struct {
	tok   *token
	bits  uint32 // which of the 32 branches are there
	items []pitem[V]
}

// pitem is a key with its value, or where sub is not nil, a deeper node.
type pitem[V any] struct {
	hash  uint64
	key   string
	value V
	sub   *pnode[V]
}

const (
	levelBits = 5
	// hashBits is the depth at which the hash is used up: nodes from there on
	// are plain lists of keys with the same hash.
	hashBits = 64
)

// seed differs from run to run, which shows in nothing but the shape of tries.
var seed = maphash.MakeSeed()

func hashOf(key string) uint64 { return maphash.String(seed, key) }

func (m *pmap[V]) get(key string) (V, bool) {
	if m.root == nil { // above all the nominations, which are asked for at every node
		var none V
		return none, false
	}
	return m.lookup(hashOf(key), key)
}

// each calls f for every key.
func (m *pmap[V]) each(f func(key string, value V)) {
	if m.root != nil {
		m.root.each(f)
	}
}

func (n *pnode[V]) each(f func(key string, value V)) {
	for i := range n.items {
		if it := &n.items[i]; it.sub != nil {
			it.sub.each(f)
		} else {
			f(it.key, it.value)
		}
	}
}

func (m *pmap[V]) lookup(hash uint64, key string) (V, bool) {
	node := m.root
	for shift := uint(0); node != nil && shift < hashBits; shift += levelBits {
		bit := uint32(1) << (hash >> shift & 31)
		if node.bits&bit == 0 {
			node = nil
			break
		}
		it := &node.items[bits.OnesCount32(node.bits&(bit-1))]
		if it.sub == nil {
			if it.key == key {
				return it.value, true
			}
			node = nil
			break
		}
		node = it.sub
	}
	if node != nil {
		if i := node.find(key); i >= 0 {
			return node.items[i].value, true
		}
	}
	var zero V
	return zero, false
}

// set puts the value under the key, on behalf of the owner of the token.
func (m *pmap[V]) set(tok *token, key string, value V) {
	m.insert(tok, pitem[V]{hash: hashOf(key), key: key, value: value})
}

func (m *pmap[V]) insert(tok *token, it pitem[V]) { m.root = m.root.insert(tok, 0, it) }

// unset removes the key, on behalf of the owner of the token.
func (m *pmap[V]) unset(tok *token, key string) { m.remove(tok, hashOf(key), key) }

func (m *pmap[V]) remove(tok *token, hash uint64, key string) {
	if _, ok := m.lookup(hash, key); ok {
		m.root = m.root.remove(tok, 0, hash, key)
	}
}

// own returns the node itself where the token is on it, else a copy with it.
func (n *pnode[V]) own(tok *token) *pnode[V] {
	switch {
	case n == nil:
		return &pnode[V]{tok: tok}
	case n.tok == tok:
		return n
	}
	return &pnode[V]{tok: tok, bits: n.bits, items: slices.Clone(n.items)}
}

// find looks for the key in a list node.
func (n *pnode[V]) find(key string) int {
	return slices.IndexFunc(n.items, func(it pitem[V]) bool { return it.key == key })
}

func (n *pnode[V]) insert(tok *token, shift uint, it pitem[V]) *pnode[V] {
	n = n.own(tok)
	if shift >= hashBits {
		if i := n.find(it.key); i >= 0 {
			n.items[i] = it
		} else {
			n.items = append(n.items, it)
		}
		return n
	}
	bit := uint32(1) << (it.hash >> shift & 31)
	i := bits.OnesCount32(n.bits & (bit - 1))
	if n.bits&bit == 0 {
		n.bits |= bit
		n.items = slices.Insert(n.items, i, it)
		return n
	}
	there := &n.items[i]
	if there.sub == nil {
		if there.key == it.key {
			there.value = it.value
			return n
		}
		var deeper *pnode[V]
		*there = pitem[V]{sub: deeper.insert(tok, shift+levelBits, *there)}
	}
	there.sub = there.sub.insert(tok, shift+levelBits, it)
	return n
}

// remove takes out a key that is there; nil stands for an empty node.
func (n *pnode[V]) remove(tok *token, shift uint, hash uint64, key string) *pnode[V] {
	n = n.own(tok)
	var bit uint32
	var i int
	if shift >= hashBits {
		i = n.find(key)
	} else {
		bit = uint32(1) << (hash >> shift & 31)
		i = bits.OnesCount32(n.bits & (bit - 1))
		if there := &n.items[i]; there.sub != nil {
			there.sub = there.sub.remove(tok, shift+levelBits, hash, key)
			if there.sub != nil {
				return n
			}
		}
	}
	n.bits &^= bit
	n.items = slices.Delete(n.items, i, i+1)
	if len(n.items) == 0 {
		return nil
	}
	return n
}
