package share

import (
	"math/bits"
	"strconv"
)

// Borrowed is the dominant resource share of a node of a quota tree: the largest part,
// of any resource, that it borrows of what its cohort could lend, over its weight.
type Borrowed struct {
	ratio    Fraction // without the weight
	weighted Fraction // infinite if the weight is 0 and it borrows
	Resource int      // the first that has the largest part; -1 if it borrows nothing
}

// Share returns the share of the node, as if it used the request too, which may be nil.
// A node at the top has the share 0, as has one that borrows nothing. A resource of which
// nothing can be lent does not count. With a weight of 0 the share is infinite as soon as
// the node borrows.
func (q *Quota) Share(node int, request []int64) Borrowed {
	top := Borrowed{Resource: -1}
	parent := q.nodes[node].Parent
	if parent == Root {
		return top
	}
	for r := range q.lendable[parent] {
		var over uint64
		for c, of := range q.resources {
			if of == r {
				over = plus(over, uint64(max(0, q.usage[node][c]+min(at(request, c), mostAmount)-q.subtree[node][c])))
			}
		}
		if lendable := q.lendable[parent][r]; over > 0 && lendable > 0 {
			f := Fraction{wideOf(over), wideOf(uint64(lendable))}
			if f.Compare(top.ratio) > 0 {
				top.ratio, top.Resource = f, r
			}
		}
	}
	if weight := uint64(q.nodes[node].Weight); !top.ratio.Zero() {
		top.weighted = Fraction{top.ratio.num.times(PPM), top.ratio.den.times(weight)}
	}
	return top
}

func plus(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	return sum | -carry
}

// Compare returns -1, 0 or 1 as b is below, equal to or above o. Infinite shares are
// above all others, and among them the ratio counts.
func (b Borrowed) Compare(o Borrowed) int {
	if b.weighted.Infinite() && o.weighted.Infinite() {
		return b.ratio.Compare(o.ratio)
	}
	return b.weighted.Compare(o.weighted)
}

// Zero reports whether the node borrows nothing.
func (b Borrowed) Zero() bool { return b.ratio.Zero() }

// Infinite reports whether the node borrows with a weight of 0.
func (b Borrowed) Infinite() bool { return b.weighted.Infinite() }

// Permille returns the share in thousandths, rounded up, and the largest int64 if it is
// infinite.
func (b Borrowed) Permille() int64 { return b.weighted.ceil(1000) }

// String is the share in thousandths, as people read it.
func (b Borrowed) String() string {
	return strconv.FormatFloat(1000*b.weighted.Float64(), 'g', -1, 64)
}
