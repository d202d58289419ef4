package fast

import (
	"math/bits"
	"slices"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/snapshot"
)

// addApart adds the scores that are not part of the class's totals: those that are normalised, and
// those of plugins that are asked by slot. What all nodes get alike is the offset; where there is
// more, f.lists has the totals of all feasible nodes without that. ran are the plugins that were
// asked by slot and did not skip.
func (f *Found) addApart(plugins Plugins) (offset int64, ran framework.Skips, ok bool) {
	f.lists.totals, f.lists.nodes = f.lists.totals[:0], f.lists.nodes[:0]
	for j, p := range plugins.Normalized() {
		if f.class.skips.Score(p) {
			continue
		}
		weight := plugins.Weights()[p]
		score, equal := f.uniform(j)
		if equal {
			l := &f.lists
			l.nodes, l.scores = append(l.nodes[:0], f.First()), append(l.scores[:0], score)
			if !plugins.Normalize(p, l.nodes, l.scores) {
				return 0, ran, false
			}
			offset += l.scores[0] * weight
			continue
		}
		f.list(j)
		if !plugins.Normalize(p, f.lists.nodes, f.lists.scores) {
			return 0, ran, false
		}
		f.lists.add(f.lists.scores, weight)
	}
	if f.slotScores {
		ran, ok = f.addSlots(plugins)
		return offset, ran, ok
	}
	return offset, ran, true
}

// addSlots adds the scores of the plugins that are asked by slot.
func (f *Found) addSlots(plugins Plugins) (ran framework.Skips, ok bool) {
	l := &f.lists
	l.slots = l.slots[:0]
	for i := range f.spans {
		l.slots = appendMasked(l.slots, &f.spans[i].slots, f.spans[i].feasible)
	}
	l.scores = slices.Grow(l.scores[:0], len(l.slots))[:len(l.slots)]
	return plugins.ScoreSlots(l.slots, l.scores, func(scores []int64, weight int64) {
		f.listTotals() // all may skip
		l.add(scores, weight)
	})
}

// listTotals lists the totals that the class knows, where that has not been done.
func (f *Found) listTotals() {
	l := &f.lists
	if len(l.totals) > 0 {
		return
	}
	for i := range f.spans {
		l.totals = appendMasked(l.totals, &f.spans[i].totals, f.spans[i].feasible)
	}
}

// appendMasked appends those of a block's values whose bits are set.
func appendMasked[T any](list []T, values *[snapshot.BlockSize]T, mask uint64) []T {
	if mask == ^uint64(0) {
		return append(list, values[:]...)
	}
	for rest := mask; rest != 0; rest &= rest - 1 {
		list = append(list, values[bits.TrailingZeros64(rest)])
	}
	return list
}

// list lists the nodes, their totals, and the raw scores of the j-th plugin that normalises.
func (f *Found) list(j int) {
	f.listTotals()
	l := &f.lists
	l.nodes, l.scores = l.nodes[:0], l.scores[:0]
	for i := range f.spans {
		s := &f.spans[i]
		if s.feasible == 0 {
			continue // it may have no scores
		}
		l.nodes = appendMasked(l.nodes, &s.infos, s.feasible)
		l.scores = appendMasked(l.scores, &s.raw[j], s.feasible)
	}
}

// uniform returns the raw score that all feasible nodes have of the j-th plugin that normalises,
// where they do.
func (f *Found) uniform(j int) (score int64, equal bool) {
	first := true
	for i := range f.spans {
		s := &f.spans[i]
		ok := s.feasible
		if ok == 0 {
			continue
		}
		one := s.raw[j][bits.TrailingZeros64(ok)]
		if first {
			score, first = one, false
		}
		if one != score || !s.alike(j, ok, one) {
			return 0, false
		}
	}
	return score, true
}

// alike reports whether the nodes of the mask have that raw score of the j-th plugin that
// normalises.
func (b *block) alike(j int, mask uint64, score int64) bool {
	if mask&^b.same[j] == 0 {
		return true // one of them has it
	}
	for rest := mask; rest != 0; rest &= rest - 1 {
		if b.raw[j][bits.TrailingZeros64(rest)] != score {
			return false
		}
	}
	b.same[j] = mask
	return true
}
