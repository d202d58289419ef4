package framework

import (
	"fmt"

	"github.com/berth-project/berth/extpoints"
)

// SchedulesGroups reports whether the profile places groups as groups; see
// [extpoints.PlacementFeasiblePlugin].
func (f *Framework) SchedulesGroups() bool { return len(f.placementFeasible) > 0 }

// HasGroupPostFilter reports whether there is a GroupPostFilter plugin.
func (f *Framework) HasGroupPostFilter() bool { return len(f.groupPostFilter) > 0 }

// HasExtensions reports whether any PreFilter extension takes part in the cycle.
func (f *Framework) HasExtensions(s *extpoints.CycleState) bool {
	r := f.current(s)
	for i := range f.preFilters {
		if f.preFilters[i].ext != nil && !r.skipExtension[i] {
			return true
		}
	}
	return false
}

// GeneratesPlacements reports whether there is a PlacementGenerate plugin.
func (f *Framework) GeneratesPlacements() bool { return f.placementGenerate != nil }

// GeneratePlacements lists the placements to try for the group within its
// parent's. Semantics of this and the other points of groups: kube-scheduler
// framework/runtime/framework.go, 1.37.1.
func (f *Framework) GeneratePlacements(s *extpoints.CycleState, g *extpoints.GroupInfo, parent *extpoints.Placement) ([]extpoints.Placement, *extpoints.Status) {
	p := f.placementGenerate
	if p == nil {
		return []extpoints.Placement{*parent}, nil
	}
	var placements []extpoints.Placement
	st := f.call(s, "PlacementGenerate", p.Name(), func() (st *extpoints.Status) {
		placements, st = p.GeneratePlacements(s, g, parent)
		return st
	})
	switch {
	case st.IsRejected(), st.Code() == extpoints.Error:
		return nil, st.WithPlugin(p.Name()) // in the plugin's own words, as in the reference
	case !st.IsSuccess():
		return nil, failed("PlacementGenerate", p.Name(), subject{}, st)
	case len(placements) == 0:
		return nil, extpoints.NewStatus(extpoints.Unschedulable, "no feasible placements found").WithPlugin(p.Name())
	}
	return placements, nil
}

// PlacementFeasible asks whether it is worth going on with a try: the first
// rejection or error counts, else the last Wait.
func (f *Framework) PlacementFeasible(s *extpoints.CycleState, g *extpoints.GroupInfo, progress extpoints.PlacementProgress) *extpoints.Status {
	var waits *extpoints.Status
	for _, p := range f.placementFeasible {
		st := f.call(s, "PlacementFeasible", p.Name(), func() *extpoints.Status { return p.PlacementFeasible(s, g, progress) })
		switch {
		case st.IsSuccess():
		case st.Code() == extpoints.Wait:
			waits = st.WithPlugin(p.Name())
		case st.Code() == extpoints.Unschedulable:
			return st.WithPlugin(p.Name())
		default:
			return failed("PlacementFeasible", p.Name(), subject{}, st)
		}
	}
	return waits
}

// ScorePlacements gives each placement of the group its weighted sum of scores.
// states are those of the tries. Where nobody scores, each total is 0.
func (f *Framework) ScorePlacements(states []*extpoints.CycleState, g *extpoints.GroupInfo, tries []*extpoints.Assignments) ([]int64, *extpoints.Status) {
	totals := make([]int64, len(tries))
	scores := make([]int64, len(tries))
	for i := range f.placementScore {
		p := &f.placementScore[i]
		for j, a := range tries {
			st := f.call(states[j], "PlacementScore", p.Name(), func() (st *extpoints.Status) {
				scores[j], st = p.ScorePlacement(states[j], g, a)
				return st
			})
			if !st.IsSuccess() {
				return nil, failed("PlacementScore", p.Name(), subject{}, st)
			}
		}
		if p.normalizer != nil {
			st := f.call(states[0], "NormalizePlacementScore", p.Name(), func() *extpoints.Status {
				return p.normalizer.NormalizePlacementScore(states[0], g, scores)
			})
			if !st.IsSuccess() {
				return nil, failed("NormalizePlacementScore", p.Name(), subject{}, st)
			}
		}
		for j, score := range scores {
			if score < extpoints.MinScore || score > extpoints.MaxScore {
				return nil, outOfRange(p.Name(), score)
			}
			totals[j] += score * p.weight
		}
	}
	return totals, nil
}

// GroupPostFilter runs the GroupPostFilter plugins until one ends the round. As with
// PostFilter the last one that says something of nominations counts.
func (f *Framework) GroupPostFilter(s *extpoints.CycleState, g *extpoints.GroupInfo, t extpoints.GroupTrial) (*extpoints.GroupPostFilterResult, *extpoints.Status) {
	var said *extpoints.GroupPostFilterResult
	var reasons []string
	var rejector string
	for _, p := range f.groupPostFilter {
		var result *extpoints.GroupPostFilterResult
		st := f.seek(s, "GroupPostFilter", p.Name(), func() (st *extpoints.Status) {
			result, st = p.GroupPostFilter(s, g, t)
			return st
		})
		switch st.Code() {
		case extpoints.Success, extpoints.UnschedulableAndUnresolvable:
			return result, st.WithPlugin(p.Name())
		case extpoints.Unschedulable:
		default:
			return nil, extpoints.AsStatus(fmt.Errorf("error in %q GroupPostFilter plugins: %s", p.Name(), st.Message())).WithPlugin(p.Name())
		}
		if result != nil {
			said = result
		}
		reasons = append(reasons, st.Reasons()...)
		if rejector == "" {
			rejector = p.Name()
		}
	}
	return said, extpoints.NewStatus(extpoints.Unschedulable, reasons...).WithPlugin(rejector)
}
