package framework

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// BySlot reports whether filters and scores of the cycle are asked by slot, since LocalKey.
func (f *Framework) BySlot(s *extpoints.CycleState) (filters, scores bool) {
	b := &f.current(s).slots
	return len(b.filters) > 0, len(b.scores) > 0
}

// FilterLocal runs the filters that are node-local on the node, up to the first that does not say
// success.
func (f *Framework) FilterLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) Verdict {
	r := f.current(s)
	if r.slots.others != nil {
		r = r.slots.others
	}
	return f.filterNode(r, s, w, node)
}

// FilterSlots says which of the slots all filters accept that are asked by slot: bit i speaks of
// slots[i]. ok is false where one does not say.
func (f *Framework) FilterSlots(s *extpoints.CycleState, w *extpoints.WorkloadInfo, slots []int32) (accepted uint64, ok bool) {
	defer func() {
		if cause := recover(); cause != nil {
			ok = false // the reference will find out
		}
	}()
	accepted = ^uint64(0)
	for _, i := range f.current(s).slots.filters {
		by, ok := f.local.slotFilters[i].FilterSlots(s, w, slots)
		if !ok {
			return 0, false
		}
		accepted &= by
	}
	return accepted, true
}

// FilterBySlot is what all filters say of a node of which the others have said local: the first
// that rejects it counts, and one of them may come before those.
func (f *Framework) FilterBySlot(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo, local Verdict) Verdict {
	for _, i := range f.current(s).slots.filters {
		if local.Status != nil && int(local.plugin) < i {
			break
		}
		st := guard("Filter", f.filters[i].Name(), func() *extpoints.Status { return f.filters[i].Filter(s, w, node) })
		if !st.IsSuccess() {
			return f.verdict(i, w, node, st)
		}
	}
	return local
}

// ScoreSlots has the Score plugins that are asked by slot score the feasible nodes, whose slots
// these are, and calls add with the scores of each plugin that does not skip them, normalised. The
// memory of scores is used for each of them. It returns the plugins that had a part.
func (f *Framework) ScoreSlots(s *extpoints.CycleState, w *extpoints.WorkloadInfo, slots []int32, scores []int64, add func(scores []int64, weight int64)) (ran Skips, ok bool) {
	defer func() {
		if cause := recover(); cause != nil {
			ok = false
		}
	}()
	for _, score := range f.current(s).slots.scores {
		st := f.local.slotScores[score].ScoreSlots(s, w, slots, scores)
		if st.Code() == extpoints.Skip {
			continue
		}
		if !st.IsSuccess() || slices.ContainsFunc(scores, func(score int64) bool { return !InRange(score) }) {
			return ran, false
		}
		if at := slices.IndexFunc(f.preScores, func(p preScore) bool { return p.score == score }); at >= 0 {
			ran.preScore |= 1 << at
		}
		ran.score |= 1 << score
		add(scores, f.weights[score])
	}
	return ran, true
}

// Without are the skips without those that ran.
func (k Skips) Without(ran Skips) Skips {
	return Skips{k.preScore &^ ran.preScore, k.score &^ ran.score}
}
