package podgrouppodscount

import (
	"errors"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Name is the plugin's name.
const Name = "PodGroupPodsCount"

// PodGroupPodsCount is the plugin. It has no state.
type PodGroupPodsCount struct{}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, _ extpoints.Handle) (*PodGroupPodsCount, error) {
	return &PodGroupPodsCount{}, nil
}

// Name returns the plugin's name.
func (*PodGroupPodsCount) Name() string { return Name }

// ScorePlacement counts the members that have a node, for a group of groups
// those of all groups below it, and the members that would get one.
func (*PodGroupPodsCount) ScorePlacement(s *extpoints.CycleState, g *extpoints.GroupInfo, a *extpoints.Assignments) (int64, *extpoints.Status) {
	return int64(placed(s.View().Groups(), g.Group) + len(a.Proposals)), nil
}

func placed(groups extpoints.Groups, g *model.Group) int {
	_, n := groups.Members(g.ID)
	for _, child := range groups.Children(g.ID) {
		n += placed(groups, child)
	}
	return n
}

// errNobody is what the reference says where no placement has any member. A
// profile that asks for at least one member never comes to that.
var errNobody = errors.New("no workloads from group are assigned to any of the candidate placements")

// NormalizePlacementScore makes the largest count 100 and the others their part
// of it, rounded down.
func (*PodGroupPodsCount) NormalizePlacementScore(_ *extpoints.CycleState, _ *extpoints.GroupInfo, scores []int64) *extpoints.Status {
	var largest int64
	for _, score := range scores {
		largest = max(largest, score)
	}
	if largest == 0 {
		return extpoints.AsStatus(errNobody)
	}
	for i := range scores {
		scores[i] = extpoints.MinScore + scores[i]*(extpoints.MaxScore-extpoints.MinScore)/largest
	}
	return nil
}

var _ extpoints.PlacementScoreNormalizer = (*PodGroupPodsCount)(nil)
