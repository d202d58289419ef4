package snapshot

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// trie is a persistent map of strings to anything: a hash trie of 32-way nodes.
// Copying the struct copies the map. A change copies the nodes on its path
// that do not carry the changer's token and changes those that do in place, so
// a long run of changes by one owner costs about what a plain map does.
type trie struct {
	root *trieNode
}

type trieNode struct {
	tok   *token
	bits  uint32 // which of the 32 branches are there
	items []trieItem
}

// trieItem is a key with its value, or a deeper node: a *trieNode, which no value is.
type trieItem struct {
	hash  uint64
	key   string
	value any
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

// deeper is the node that the item holds, nil where it holds a value.
func (it *trieItem) deeper() *trieNode {
	n, _ := it.value.(*trieNode)
	return n
}

// each calls f for every key.
func (m *trie) each(f func(key string, value any)) {
	if m.root != nil {
		m.root.each(f)
	}
}

func (n *trieNode) each(f func(key string, value any)) {
	for i := range n.items {
		it := &n.items[i]
		if deeper := it.deeper(); deeper != nil {
			deeper.each(f)
		} else {
			f(it.key, it.value)
		}
	}
}

// lookup returns the value under the key, nil where there is none.
func (m *trie) lookup(hash uint64, key string) any {
	node := m.root
	for shift := uint(0); node != nil && shift < hashBits; shift += levelBits {
		bit := uint32(1) << (hash >> shift & 31)
		if node.bits&bit == 0 {
			return nil
		}
		it := &node.items[rank(node.bits, bit)]
		if node = it.deeper(); node == nil && it.key == key {
			return it.value
		}
	}
	if node != nil {
		if i := node.find(key); i >= 0 {
			return node.items[i].value
		}
	}
	return nil
}

// insert puts the item into the map, on behalf of the owner of the token.
func (m *trie) insert(tok *token, it trieItem) { m.root = m.root.insert(tok, 0, it) }

// remove takes the key out of the map, on behalf of the owner of the token.
func (m *trie) remove(tok *token, hash uint64, key string) {
	if m.lookup(hash, key) != nil {
		m.root = m.root.remove(tok, 0, hash, key)
	}
}

// rank is how many branches of the set come before the bit's.
func rank(set, bit uint32) int { return bits.OnesCount32(set & (bit - 1)) }

// own returns the node itself where the token is on it, else a copy with it.
func (n *trieNode) own(tok *token) *trieNode {
	switch {
	case n == nil:
		return &trieNode{tok: tok}
	case n.tok == tok:
		return n
	}
	return &trieNode{tok: tok, bits: n.bits, items: slices.Clone(n.items)}
}

// find looks for the key in a list node.
func (n *trieNode) find(key string) int {
	return slices.IndexFunc(n.items, func(it trieItem) bool { return it.key == key })
}

func (n *trieNode) insert(tok *token, shift uint, it trieItem) *trieNode {
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
	i := rank(n.bits, bit)
	if n.bits&bit == 0 {
		n.bits |= bit
		n.items = slices.Insert(n.items, i, it)
		return n
	}
	there := &n.items[i]
	deeper := there.deeper()
	if deeper == nil {
		if there.key == it.key {
			there.value = it.value
			return n
		}
		deeper = deeper.insert(tok, shift+levelBits, *there)
	}
	*there = trieItem{value: deeper.insert(tok, shift+levelBits, it)}
	return n
}

// remove takes out a key that is there; nil stands for an empty node.
func (n *trieNode) remove(tok *token, shift uint, hash uint64, key string) *trieNode {
	n = n.own(tok)
	var bit uint32
	var i int
	if shift >= hashBits {
		i = n.find(key)
	} else {
		bit = uint32(1) << (hash >> shift & 31)
		i = rank(n.bits, bit)
		if deeper := n.items[i].deeper(); deeper != nil {
			if deeper = deeper.remove(tok, shift+levelBits, hash, key); deeper != nil {
				n.items[i].value = deeper
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
