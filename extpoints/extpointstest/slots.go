package extpointstest

import "github.com/berth-project/berth/extpoints"

// trySlots compares what a SlotPlugin says of slots with what it says of the nodes in them.
func trySlots(tr *trial) {
	plugin, ok := tr.plugin.(extpoints.SlotPlugin)
	if !ok {
		return
	}
	filtered, scored := 0, 0
	tr.each(func(s *Situation) {
		v := judge(tr.plugin, s)
		if tr.slotFilters(plugin, &v, s) {
			filtered++
		}
		if !v.pre.IsRejected() && tr.slotScores(plugin, &v, s) {
			scored++
		}
	})
	tr.notef("by slot Filter answered %d times, and Score %d times", filtered, scored)
}

// someSlots draws some of the nodes, at most 64, and lists their slots.
func (tr *trial) someSlots(s *Situation) (nodes []*extpoints.NodeInfo, slots []int32) {
	for range tr.random.IntN(65) {
		if len(s.View.NodeInfos) > 0 {
			n := s.View.NodeInfos[tr.random.IntN(len(s.View.NodeInfos))]
			nodes, slots = append(nodes, n), append(slots, n.Slot)
		}
	}
	return nodes, slots
}

// slotFilters compares FilterSlots with Filter, and reports whether it answered.
func (tr *trial) slotFilters(p extpoints.SlotPlugin, v *verdict, s *Situation) bool {
	filter, ok := tr.plugin.(extpoints.FilterPlugin)
	if !ok || !v.pre.IsSuccess() {
		return false
	}
	nodes, slots := tr.someSlots(s)
	before := fingerprint(v.state)
	accepted, ok := p.FilterSlots(v.state, s.Workload, slots)
	if fingerprint(v.state) != before {
		tr.failf(s, "FilterSlots changes the state")
	}
	if !ok {
		return false
	}
	for i, n := range nodes {
		st := filter.Filter(v.state, s.Workload, n)
		if accepts := accepted>>i&1 != 0; accepts != st.IsSuccess() || !accepts && !st.IsRejected() {
			tr.failf(s, "FilterSlots says %v of slot %d, and Filter says %v of node %s in it", accepts, n.Slot, st, n.Node.Name)
		}
	}
	return true
}

// slotScores compares ScoreSlots with PreScore, Score and NormalizeScore, and reports whether it
// gave scores.
func (tr *trial) slotScores(p extpoints.SlotPlugin, v *verdict, s *Situation) bool {
	scorer, ok := tr.plugin.(extpoints.ScorePlugin)
	if !ok {
		return false
	}
	nodes, slots := tr.someSlots(s)
	scores := make([]int64, len(slots))
	for i := range scores {
		scores[i] = int64(-7 * i) // what is there before does not count
	}
	before := fingerprint(v.state)
	st := p.ScoreSlots(v.state, s.Workload, slots, scores)
	if fingerprint(v.state) != before {
		tr.failf(s, "ScoreSlots changes the state")
	}
	if !st.IsSuccess() && st.Code() != extpoints.Skip {
		return false
	}
	if pre, ok := tr.plugin.(extpoints.PreScorePlugin); ok {
		if is := pre.PreScore(v.state, s.Workload, nodes); st.Code() != is.Code() {
			tr.failf(s, "ScoreSlots says %v, and PreScore %v", st, is)
		}
	}
	if !st.IsSuccess() {
		return false
	}
	is := make([]int64, len(nodes))
	for i, n := range nodes {
		is[i], _ = scorer.Score(v.state, s.Workload, n)
	}
	if normalizer, ok := tr.plugin.(extpoints.ScoreNormalizer); ok {
		normalizer.NormalizeScore(v.state, s.Workload, nodes, is)
	}
	for i, n := range nodes {
		if scores[i] != is[i] {
			tr.failf(s, "ScoreSlots gives slot %d %d, and node %s in it is given %d", n.Slot, scores[i], n.Node.Name, is[i])
		}
	}
	return true
}
