package podstate

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "PodState"

// PodState is the plugin. It has no state.
type PodState struct{}

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, _ extpoints.Handle) (*PodState, error) { return &PodState{}, nil }

// Name returns the plugin's name.
func (*PodState) Name() string { return Name }

// Score is how many workloads on the node are terminating, less how many are nominated to
// it.
func (*PodState) Score(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	score := -int64(len(s.View().Nominated(node.Node.Name)))
	for _, w := range node.Workloads {
		if w.Terminating {
			score++
		}
	}
	return score, nil
}

// NormalizeScore stretches the scores.
func (*PodState) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	return helper.StretchScore(extpoints.MaxScore, scores)
}

// Sign signs nothing: all workloads are alike to it.
func (*PodState) Sign(*model.Workload) ([]extpoints.SignFragment, *extpoints.Status) { return nil, nil }

var (
	_ extpoints.ScoreNormalizer = (*PodState)(nil)
	_ extpoints.SignPlugin      = (*PodState)(nil)
)
