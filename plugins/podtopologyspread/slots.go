package podtopologyspread

import "github.com/berth-project/berth/extpoints"

// FilterSlots implements [extpoints.SlotPlugin].
func (*PodTopologySpread) FilterSlots(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, slots []int32) (accepted uint64, ok bool) {
	now, ok := spreads.Get(s)
	if !ok || len(now.moved) > 0 {
		return 0, false
	}
	accepted = ^uint64(0)
	for i := range now.domains {
		d := &now.domains[i]
		most := int64(d.maxSkew) + int64(now.smallest(int32(i))) - int64(d.self)
		var by uint64
		for k, slot := range slots {
			if domain := d.of[slot]; domain != 0 && int64(d.counts[domain]) <= most {
				by |= 1 << k
			}
		}
		accepted &= by
	}
	return accepted, true
}

// ScoreSlots implements [extpoints.SlotPlugin].
func (p *PodTopologySpread) ScoreSlots(s *extpoints.CycleState, w *extpoints.WorkloadInfo, slots []int32, scores []int64) *extpoints.Status {
	memory := scratches.Get().(*scratch)
	defer memory.release()
	f := p.prefer(s, w, memory, len(slots), func(i int) int32 { return slots[i] })
	if f == nil {
		return skip
	}
	for i, slot := range slots {
		scores[i] = f.score(slot)
	}
	f.normalize(scores, func(i int) int32 { return slots[i] })
	return nil
}

var _ extpoints.SlotPlugin = (*PodTopologySpread)(nil)
