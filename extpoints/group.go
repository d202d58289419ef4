package extpoints

import "github.com/berth-project/berth/model"

// GroupInfo is a group in its own cycle: the group and its members that are to
// be placed, in the order in which they are tried.
type GroupInfo struct {
	*model.Group
	Members []*WorkloadInfo
}

// Placement is a set of nodes that a whole group may be placed on.
type Placement struct {
	Name  string
	Nodes []*NodeInfo
}

// Assignments are the nodes proposed for the members of a group within one
// placement.
type Assignments struct {
	Placement *Placement
	Bindings  []model.Binding
}

// PlacementGeneratePlugin lists the placements to try for a group. At most one
// is enabled. Called on the scheduling goroutine; must not block. Success; a
// rejection makes the group unschedulable; anything else is an error.
type PlacementGeneratePlugin interface {
	Plugin
	GeneratePlacements(s *CycleState, g *GroupInfo, parent *Placement) ([]Placement, *Status)
}

// PlacementProgress counts the members of a group in the course of a try.
type PlacementProgress struct {
	Scheduled int // members that have a node
	Remaining int // members that were not tried yet
}

// PlacementFeasiblePlugin says, before the first member and after each, whether
// it is worth going on with a placement. Success: it would do as it is. Wait:
// not yet. A rejection ends the try; anything else is an error.
type PlacementFeasiblePlugin interface {
	Plugin
	PlacementFeasible(s *CycleState, g *GroupInfo, p PlacementProgress) *Status
}

// PlacementScorePlugin says how good a placement is for a group; scores are
// treated like those of [ScorePlugin].
type PlacementScorePlugin interface {
	Plugin
	ScorePlacement(s *CycleState, g *GroupInfo, a *Assignments) (int64, *Status)
}

// PlacementScoreNormalizer is the [ScoreNormalizer] of placements.
type PlacementScoreNormalizer interface {
	PlacementScorePlugin
	NormalizePlacementScore(s *CycleState, g *GroupInfo, scores []int64) *Status
}

// GroupPostFilterPlugin is the [PostFilterPlugin] of a group for which no
// placement is feasible. Try runs the group's cycle again on the state as the
// plugin left it.
type GroupPostFilterPlugin interface {
	Plugin
	GroupPostFilter(s *CycleState, g *GroupInfo, try func(*CycleState) (*Assignments, *Status)) (*PostFilterResult, *Status)
}
