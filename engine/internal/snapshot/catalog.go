package snapshot

import (
	"iter"
	"slices"
)

// catalog is a persistent collection of members (classes of workloads, or
// affinity terms), each with its counts and filed under labels. Copying the
// struct copies the catalog.
//
// Counts change all the time, what a member is and where it is filed does not.
// So a new count is a new version of the member, in the one table that holds
// members, and what is filed under a label is not the member but its [id].
type catalog[T any] struct {
	size    int // members
	members table[*member[T]]
	files   table[*file]
}

// id stands for a member in all its versions. Two members never have the same
// address here; the hash says where in the table the member is.
type id struct{ sum uint64 }

func (x *id) hash() uint64        { return x.sum }
func (x *id) same(other *id) bool { return x == other }

// member is one version of a member. Once the token is dropped it is frozen.
type member[T any] struct {
	tok    *token
	id     *id
	counts counts
	shown  T // what readers get; whoever makes a version sets its Counts
}

func (m *member[T]) hash() uint64               { return m.id.sum }
func (m *member[T]) same(other *member[T]) bool { return m.id == other.id }

// file has the members that have one label.
type file struct {
	tok        *token
	key, value string
	size       int
	ids        table[*id]
}

func (f *file) hash() uint64          { return labelSum(f.key, f.value) }
func (f *file) same(other *file) bool { return f.is(other.key, other.value) }

func (f *file) is(key, value string) bool { return f.value == value && f.key == key }

// labelSum is the hash of a label. The two are hashed one by one, so it does not
// matter what is in them.
func labelSum(key, value string) uint64 { return mix(hashOf(key)*3 + hashOf(value)) }

// mix makes all bits of the result depend on all bits of the sum, so that sums
// of results are worth something as hashes. (The finisher of MurmurHash3, which
// is in the public domain.)
func mix(sum uint64) uint64 {
	sum ^= sum >> 33
	sum *= 0xff51afd7ed558ccd
	sum ^= sum >> 33
	sum *= 0xc4ceb9fe1a85ec53
	return sum ^ sum>>33
}

// get returns the present version of a member that is there.
func (c *catalog[T]) get(x *id) *member[T] {
	m, _ := c.members.find(x.sum, func(m *member[T]) bool { return m.id == x })
	return m
}

// under returns the file of the label, nil where no member has it.
func (c *catalog[T]) under(key, value string) *file {
	f, _ := c.files.find(labelSum(key, value), func(f *file) bool { return f.is(key, value) })
	return f
}

// add makes a member.
func (c *catalog[T]) add(tok *token, sum uint64, shown T) *member[T] {
	m := &member[T]{tok: tok, id: &id{sum}, shown: shown}
	c.members.put(tok, m)
	c.size++
	return m
}

// own returns the version that the owner of the token may change.
func (c *catalog[T]) own(tok *token, m *member[T]) *member[T] {
	if m.tok == tok {
		return m
	}
	m = &member[T]{tok: tok, id: m.id, counts: m.counts.copy(), shown: m.shown}
	c.members.put(tok, m)
	return m
}

// drop removes a member that is in no file any more.
func (c *catalog[T]) drop(tok *token, m *member[T]) {
	c.members.drop(tok, m)
	c.size--
}

// ownFile returns the file of the label, ready to be changed; it is new where
// there is none yet.
func (c *catalog[T]) ownFile(tok *token, key, value string) *file {
	f := c.under(key, value)
	switch {
	case f == nil:
		f = &file{tok: tok, key: key, value: value}
	case f.tok == tok:
		return f
	default:
		own := *f
		own.tok = tok
		f = &own
	}
	c.files.put(tok, f)
	return f
}

// enter files the member under the label, under which it is not filed yet.
func (c *catalog[T]) enter(tok *token, key, value string, x *id) {
	f := c.ownFile(tok, key, value)
	f.ids.put(tok, x)
	f.size++
}

// leave takes the member out of the file of the label.
func (c *catalog[T]) leave(tok *token, key, value string, x *id) {
	f := c.ownFile(tok, key, value)
	f.ids.drop(tok, x)
	if f.size--; f.size == 0 {
		c.files.drop(tok, f)
	}
}

// distinct goes through the values, each once.
func distinct(values []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, value := range values {
			if !slices.Contains(values[:i], value) && !yield(value) {
				return
			}
		}
	}
}
