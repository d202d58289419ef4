package interpodaffinity

import "github.com/berth-project/berth/extpoints"

// FilterSlots implements [extpoints.SlotPlugin].
func (*InterPodAffinity) FilterSlots(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, slots []int32) (accepted uint64, ok bool) {
	st, ok := prepared.Get(s)
	if !ok || len(st.moved) > 0 {
		return 0, false
	}
	accepted = ^uint64(0)
	lonely := st.company == 0 && st.self
	for i := range st.tables[near] {
		accepted &= st.tables[near][i].which(slots, func(domain, count int32) bool { return domain != 0 && (count > 0 || lonely) })
	}
	for _, r := range []rule{apart, barred} {
		for i := range st.tables[r] {
			accepted &= st.tables[r][i].which(slots, func(_, count int32) bool { return count <= 0 })
		}
	}
	return accepted, true
}

// which says of which of the slots the predicate is true, of the domain and its count.
func (t *table) which(slots []int32, is func(domain, count int32) bool) (which uint64) {
	for k, slot := range slots {
		if domain := t.topology.Of[slot]; is(domain, t.at(domain)) {
			which |= 1 << k
		}
	}
	return which
}

// ScoreSlots implements [extpoints.SlotPlugin].
func (p *InterPodAffinity) ScoreSlots(s *extpoints.CycleState, w *extpoints.WorkloadInfo, slots []int32, scores []int64) *extpoints.Status {
	st := p.weigh(s.View(), w)
	if st == nil {
		return skip
	}
	clear(scores)
	for i := range st.tables {
		t, weight := &st.tables[i], st.weights[i]
		for k, slot := range slots {
			scores[k] += weight * int64(t.sums[t.topology.Of[slot]])
		}
	}
	normalize(scores)
	return nil
}

var _ extpoints.SlotPlugin = (*InterPodAffinity)(nil)
