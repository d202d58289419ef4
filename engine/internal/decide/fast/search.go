package fast

import (
	"math/bits"
	"slices"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
)

// Found is what a search has found. It holds until the next one of its cache.
type Found struct {
	class   *Class
	plugins Plugins
	part    []uint64 // by block; nil: all nodes
	spans   []span
	// Full: one more is feasible than was wanted, which is neither Evaluated nor Feasible.
	Full bool
	// Evaluated nodes count as looked at, Feasible of them are feasible.
	Evaluated, Feasible int
	// Twice is how many nodes that were looked at, the one too many included, were claimed and
	// are feasible all the same: all filters were asked twice about them.
	Twice int

	places  []int32 // of the claimed nodes
	claimed []claim

	// slotFilters and slotScores: there are plugins that are asked by slot.
	slotFilters, slotScores bool
	lists                   lists
}

// claim is what the filters say of a claimed node that was looked at.
type claim struct {
	place   int
	verdict framework.Verdict
}

// span is the part of a block that was visited.
type span struct {
	*block
	first int // the place of its first node
	mask  uint64
	// feasible are those of the mask that are feasible in this cycle, claimed those that are
	// claimed.
	feasible, claimed uint64
}

// Search looks at the nodes from the place start on, which is one of a node, around once, until it has found one
// feasible node more than it wants; that one, and what comes behind it, is not part of what it
// found. part has a mask for each block, of the nodes that there are for this search; nil for all.
// It reports false where a filter failed.
func (c *Class) Search(nodes Nodes, part []uint64, start, want int, plugins Plugins, out *Found) bool {
	*out = Found{class: c, plugins: plugins, part: part, spans: out.spans[:0], claimed: out.claimed[:0], places: plugins.Claimed(), lists: out.lists}
	out.slotFilters, out.slotScores = plugins.BySlot()
	c.begin(plugins.Present())
	ok := c.pass(nodes, start, c.size, want, plugins, out) && c.pass(nodes, 0, start, want, plugins, out)
	c.holds.narrow(plugins.Ages())
	return ok
}

// pass is a search over the places between two.
func (c *Class) pass(nodes Nodes, from, to, want int, plugins Plugins, out *Found) bool {
	for at := from; at < to && !out.Full; {
		i, low := at/snapshot.BlockSize, at%snapshot.BlockSize
		high := min(to-i*snapshot.BlockSize, snapshot.BlockSize)
		at = i*snapshot.BlockSize + high
		mask := ^uint64(0) << low & (^uint64(0) >> (snapshot.BlockSize - high))
		if out.part != nil {
			if mask &= out.part[i]; mask == 0 {
				continue
			}
		}
		b := c.at(nodes, i)
		if !c.ask(b, mask, plugins) {
			return false
		}
		s := span{block: b, first: i * snapshot.BlockSize, mask: mask, feasible: b.ok & mask}
		if out.slotFilters {
			accepted, ok := plugins.FilterSlots(b.slots[:])
			if !ok {
				return false
			}
			s.feasible &= accepted
		}
		if !out.askClaimed(&s, plugins) {
			return false
		}
		out.visit(s, want-out.Feasible)
	}
	return true
}

// askClaimed asks about the nodes of the span that are claimed.
func (f *Found) askClaimed(s *span, plugins Plugins) bool {
	if len(f.places) == 0 {
		return true
	}
	from, _ := slices.BinarySearch(f.places, int32(s.first))
	for _, place := range f.places[from:] {
		k := int(place) - s.first
		if k >= snapshot.BlockSize {
			break
		}
		bit := uint64(1) << k
		if s.mask&bit == 0 {
			continue
		}
		v := plugins.FilterClaimed(s.infos[k])
		if v.Status != nil && !v.Status.IsRejected() {
			return false
		}
		if v.Status != nil {
			s.feasible &^= bit
		}
		s.claimed |= bit
		f.claimed = append(f.claimed, claim{int(place), v})
	}
	return true
}

// visit adds the span up to the first feasible node that is one more than so many.
func (f *Found) visit(s span, most int) {
	looked := s.mask
	if found := bits.OnesCount64(s.feasible); found > most {
		last := uint64(1) << nth(s.feasible, most)
		s.mask &= last - 1
		looked = s.mask | last
		f.Full = true
	}
	f.Twice += bits.OnesCount64(s.feasible & s.claimed & looked)
	s.feasible &= s.mask
	if s.mask == 0 {
		return
	}
	f.spans = append(f.spans, s)
	f.Evaluated += bits.OnesCount64(s.mask)
	f.Feasible += bits.OnesCount64(s.feasible)
}

// verdict is what the filters say of node k of the span, which was looked at.
func (f *Found) verdict(s *span, k int) framework.Verdict {
	switch {
	case s.claimed>>k&1 != 0:
		i := slices.IndexFunc(f.claimed, func(c claim) bool { return c.place == s.first+k })
		return f.claimed[i].verdict
	case f.slotFilters:
		return f.plugins.FilterBySlot(s.infos[k], s.verdicts[k])
	}
	return s.verdicts[k]
}

// nth is the bit that n set bits come before.
func nth(mask uint64, n int) int {
	for ; n > 0; n-- {
		mask &= mask - 1
	}
	return bits.TrailingZeros64(mask)
}

// First is the first of the feasible nodes.
func (f *Found) First() *extpoints.NodeInfo {
	for i := range f.spans {
		if ok := f.spans[i].feasible; ok != 0 {
			return f.spans[i].infos[bits.TrailingZeros64(ok)]
		}
	}
	return nil
}

// Rejected calls visit for the nodes that were looked at and are not feasible, in visiting order.
func (f *Found) Rejected(visit func(*extpoints.NodeInfo, *framework.Verdict)) {
	for i := range f.spans {
		s := &f.spans[i]
		for rest := s.mask &^ s.feasible; rest != 0; rest &= rest - 1 {
			k := bits.TrailingZeros64(rest)
			v := f.verdict(s, k)
			visit(s.infos[k], &v)
		}
	}
}
