package faults

import (
	"github.com/berth-project/berth/extpoints"
)

var (
	_ extpoints.PlacementFeasiblePlugin  = (*plugin)(nil)
	_ extpoints.PlacementScoreNormalizer = (*plugin)(nil)
	_ extpoints.GroupPostFilterPlugin    = (*plugin)(nil)
)

// PlacementFeasible implements [extpoints.PlacementFeasiblePlugin].
func (p *plugin) PlacementFeasible(s *extpoints.CycleState, g *extpoints.GroupInfo, progress extpoints.PlacementProgress) *extpoints.Status {
	return p.strike(s, "PlacementFeasible", g.ID, string(rune('a'+progress.Remaining)))
}

// ScorePlacement implements [extpoints.PlacementScorePlugin].
func (p *plugin) ScorePlacement(s *extpoints.CycleState, g *extpoints.GroupInfo, a *extpoints.Assignments) (int64, *extpoints.Status) {
	f, ok := p.in(s, "ScorePlacement", g.ID, a.Placement.Name)
	return f.score(ok)
}

// NormalizePlacementScore implements [extpoints.PlacementScoreNormalizer].
func (p *plugin) NormalizePlacementScore(s *extpoints.CycleState, g *extpoints.GroupInfo, scores []int64) *extpoints.Status {
	f, ok := p.in(s, "NormalizePlacementScore", g.ID)
	return f.normalize(ok, scores)
}

// GroupPostFilter implements [extpoints.GroupPostFilterPlugin].
func (p *plugin) GroupPostFilter(s *extpoints.CycleState, g *extpoints.GroupInfo, _ extpoints.GroupTrial) (*extpoints.GroupPostFilterResult, *extpoints.Status) {
	f, ok := p.in(s, "GroupPostFilter", g.ID)
	if !ok {
		return nil, extpoints.NewStatus(extpoints.Unschedulable)
	}
	p.stir(f, s)
	for _, id := range f.ids() {
		s.Evict(id, "on a whim")
	}
	r := &extpoints.GroupPostFilterResult{Nominations: map[string]extpoints.PostFilterResult{}}
	g.All(func(w *extpoints.WorkloadInfo) bool {
		r.Nominations[w.ID] = f.nomination()
		return f.pick(3) > 0
	})
	if f.pick(2) == 0 {
		return r, nil
	}
	return nil, f.status()
}
