package share

import (
	"cmp"
	"strings"
)

// Dominant returns the largest of the shares used/(capacity*weight), and of which
// resource it is; of equal ones the first. A resource with a capacity of 0 or less
// does not count, nor does usage below 0. With a weight of 0 or less the share is
// infinite, also where nothing is used: such a member comes last. The resource is -1
// where no share is above 0. Missing resources at the end of used are 0.
func Dominant(used, capacity []int64, weight int64) (Fraction, int) {
	if weight <= 0 {
		return infinite, -1
	}
	var top Fraction
	resource := -1
	for r, u := range used {
		if u <= 0 || r >= len(capacity) || capacity[r] <= 0 {
			continue
		}
		f := Fraction{wideOf(uint64(u)), wideOf128(product(uint64(capacity[r]), uint64(weight)))}
		if f.Compare(top) > 0 {
			top, resource = f, r
		}
	}
	return top, resource
}

// Key is the place of one among those that share something: the lowest share is next,
// then the lowest sequence, then the name.
type Key struct {
	Share    Fraction // what it has; the policies compute it
	Sequence uint64   // the order of creation
	Name     string   // unique among those compared
}

// Compare returns -1 if k is before o, 1 if it is after, and 0 if they have the same
// name too.
func (k Key) Compare(o Key) int {
	return cmp.Or(k.Share.Compare(o.Share), cmp.Compare(k.Sequence, o.Sequence), strings.Compare(k.Name, o.Name))
}

// Member is one of those among whom a capacity is shared by DRF.
type Member struct {
	Name     string  // unique among the members; decides last between equal shares
	Sequence uint64  // decides between equal shares, before the name
	Weight   int64   // its part, relative to the others; 0 or less comes last
	Used     []int64 // by resource, what it has
	Blocked  bool    // it wants nothing, or what it wants next does not fit
}

// Key returns the member's place among all that share the capacity.
func (m Member) Key(capacity []int64) Key {
	s, _ := Dominant(m.Used, capacity, m.Weight)
	return Key{Share: s, Sequence: m.Sequence, Name: m.Name}
}

// Next returns the index of the member that DRF serves next: the one with the lowest
// weighted dominant share of those that are not blocked. It returns false if all are.
// Give it what it wants, or mark it blocked, and ask again.
func Next(members []Member, capacity []int64) (int, bool) {
	best, found := 0, false
	var key Key
	for i, m := range members {
		if m.Blocked {
			continue
		}
		if k := m.Key(capacity); !found || k.Compare(key) < 0 {
			best, key, found = i, k, true
		}
	}
	return best, found
}
