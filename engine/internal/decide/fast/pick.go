package fast

import (
	"math/bits"

	"github.com/berth-project/berth/extpoints"
)

// each calls visit for the ties in the order in which they were found, until it says no: with the
// node, how many feasible nodes were found before it, and its place in visiting order.
func (b *Best) each(visit func(node *extpoints.NodeInfo, rank, place int) bool) {
	rank := 0
	for i := range b.spans {
		s := &b.spans[i]
		ok := s.feasible
		for at := b.at[i]; at != 0; at &= at - 1 {
			k := bits.TrailingZeros64(at)
			if !visit(s.infos[k], rank+bits.OnesCount64(ok&(1<<k-1)), s.first+k) {
				return
			}
		}
		rank += bits.OnesCount64(ok)
	}
}

// InHeap is the first of the ties in pre-order of the implicit binary heap in which a node's
// place is its rank.
func (b *Best) InHeap() (best *extpoints.NodeInfo) {
	first := 0
	b.each(func(node *extpoints.NodeInfo, rank, _ int) bool {
		if best == nil || preorder(rank, first) {
			best, first = node, rank
		}
		return first != 0 // nothing comes before the root
	})
	return best
}

// preorder reports whether a comes before b. Counted from 1, the bits of a place behind the first
// are the way to it from the root: the smaller way comes first, and of two of which one is the
// beginning of the other, the shorter.
func preorder(a, b int) bool {
	x, y := uint64(a)+1, uint64(b)+1
	way, other := x<<bits.LeadingZeros64(x), y<<bits.LeadingZeros64(y)
	return way < other || way == other && x < y
}

// Lowest is the first of the ties in visiting order.
func (b *Best) Lowest() (best *extpoints.NodeInfo) {
	lowest := 0
	b.each(func(node *extpoints.NodeInfo, _, place int) bool {
		if best == nil || place < lowest {
			best, lowest = node, place
		}
		return true
	})
	return best
}

// Nth is the tie that n of them were found before.
func (b *Best) Nth(n int) (found *extpoints.NodeInfo) {
	b.each(func(node *extpoints.NodeInfo, _, _ int) bool {
		n--
		found = node
		return n >= 0
	})
	return found
}
