package snapshot

import "slices"

// keyed is what a table holds: pointers to things that know under which key
// they are kept.
type keyed[P any] interface {
	comparable
	// hash is that of the key.
	hash() uint64
	// same reports whether the other is kept under the same key.
	same(other P) bool
}

// table is a persistent set of things that carry their own keys: a hash trie
// like [trie], with the same rules for tokens. What is different is that a slot
// is a pointer and no more. So a change copies a fifth of the bytes, and a key
// need not be written out as text to be looked for: the caller brings its hash
// and says which thing it means.
//
// Copying the struct copies the table. The things are not copied with it: one
// that is to change is replaced by put.
type table[P keyed[P]] struct {
	// only is the thing where there is one, and root is nil: such tables are
	// the most frequent by far.
	only P
	root *tnode[P]
}

// tnode is a node of the trie. Of its 32 branches those in here hold one thing,
// those in below hold a deeper node. Where the hash is used up it is a plain
// list.
type tnode[P keyed[P]] struct {
	tok    *token
	here   uint32
	below  uint32
	things []P
	subs   []*tnode[P]
}

// find returns the thing with the hash that is reports true for.
func (t *table[P]) find(hash uint64, is func(P) bool) (P, bool) {
	var none P
	if t.root == nil {
		if t.only != none && is(t.only) {
			return t.only, true
		}
		return none, false
	}
	n := t.root
	for shift := uint(0); shift < hashBits; shift += levelBits {
		bit := uint32(1) << (hash >> shift & 31)
		if n.here&bit != 0 {
			if p := n.things[rank(n.here, bit)]; is(p) {
				return p, true
			}
			return none, false
		}
		if n.below&bit == 0 {
			return none, false
		}
		n = n.subs[rank(n.below, bit)]
	}
	if i := slices.IndexFunc(n.things, is); i >= 0 {
		return n.things[i], true
	}
	return none, false
}

// each calls f for every thing. Nothing may depend on the order, which is that
// of the hashes and differs from run to run.
func (t *table[P]) each(f func(P)) {
	var none P
	if t.root != nil {
		t.root.each(f)
	} else if t.only != none {
		f(t.only)
	}
}

func (n *tnode[P]) each(f func(P)) {
	for _, p := range n.things {
		f(p)
	}
	for _, deeper := range n.subs {
		deeper.each(f)
	}
}

// put puts the thing into the table, in place of one with the same key, on
// behalf of the owner of the token.
func (t *table[P]) put(tok *token, p P) {
	var none P
	if t.root == nil {
		if t.only == none || t.only.same(p) {
			t.only = p
			return
		}
		t.root = t.root.put(tok, 0, t.only.hash(), t.only)
		t.only = none
	}
	t.root = t.root.put(tok, 0, p.hash(), p)
}

// drop takes out the thing with the same key, on behalf of the owner of the
// token. There must be one.
func (t *table[P]) drop(tok *token, p P) {
	var none P
	if t.root == nil {
		t.only = none
		return
	}
	t.root = t.root.drop(tok, 0, p.hash(), p)
	if last, ok := t.root.last(); ok {
		t.only, t.root = last, nil
	}
}

// own returns the node itself where the token is on it, else a copy with it.
// The two shapes that most nodes have, nearly full of subs towards the root and
// with a few things at the end, are made in one piece with the slice: what a
// change costs is above all the number of allocations.
func (n *tnode[P]) own(tok *token) *tnode[P] {
	switch {
	case n == nil:
		end := &struct {
			node tnode[P]
			room [4]P
		}{node: tnode[P]{tok: tok}}
		end.node.things = end.room[:0]
		return &end.node
	case n.tok == tok:
		return n
	case len(n.subs) == 0 && len(n.things) <= 4:
		end := (*tnode[P])(nil).own(tok)
		end.here, end.things = n.here, append(end.things, n.things...)
		return end
	case len(n.things) == 0 && len(n.subs) > 20:
		full := &struct {
			node tnode[P]
			room [32]*tnode[P]
		}{node: tnode[P]{tok: tok, below: n.below}}
		full.node.subs = append(full.room[:0], n.subs...)
		return &full.node
	}
	return &tnode[P]{tok: tok, here: n.here, below: n.below, things: slices.Clone(n.things), subs: slices.Clone(n.subs)}
}

func (n *tnode[P]) put(tok *token, shift uint, hash uint64, p P) *tnode[P] {
	n = n.own(tok)
	if shift >= hashBits {
		if i := slices.IndexFunc(n.things, p.same); i >= 0 {
			n.things[i] = p
		} else {
			n.things = append(n.things, p)
		}
		return n
	}
	bit := uint32(1) << (hash >> shift & 31)
	i, j := rank(n.here, bit), rank(n.below, bit)
	switch {
	case n.below&bit != 0:
		n.subs[j] = n.subs[j].put(tok, shift+levelBits, hash, p)
	case n.here&bit == 0:
		n.here |= bit
		n.things = slices.Insert(n.things, i, p)
	case n.things[i].same(p):
		n.things[i] = p
	default: // two for one branch
		there := n.things[i]
		var deeper *tnode[P]
		deeper = deeper.put(tok, shift+levelBits, there.hash(), there)
		deeper = deeper.put(tok, shift+levelBits, hash, p)
		n.here &^= bit
		n.things = slices.Delete(n.things, i, i+1)
		n.below |= bit
		n.subs = slices.Insert(n.subs, j, deeper)
	}
	return n
}

// drop is called on nodes with two things or more, below or here, and leaves
// no less than one.
func (n *tnode[P]) drop(tok *token, shift uint, hash uint64, p P) *tnode[P] {
	n = n.own(tok)
	if shift >= hashBits {
		i := slices.IndexFunc(n.things, p.same)
		n.things = slices.Delete(n.things, i, i+1)
		return n
	}
	bit := uint32(1) << (hash >> shift & 31)
	i, j := rank(n.here, bit), rank(n.below, bit)
	if n.here&bit != 0 {
		n.here &^= bit
		n.things = slices.Delete(n.things, i, i+1)
		return n
	}
	n.subs[j] = n.subs[j].drop(tok, shift+levelBits, hash, p)
	if last, ok := n.subs[j].last(); ok { // it moves up
		n.below &^= bit
		n.subs = slices.Delete(n.subs, j, j+1)
		n.here |= bit
		n.things = slices.Insert(n.things, i, last)
	}
	return n
}

// last returns the thing of a node that has no more than one.
func (n *tnode[P]) last() (P, bool) {
	if len(n.things) == 1 && len(n.subs) == 0 {
		return n.things[0], true
	}
	var none P
	return none, false
}
