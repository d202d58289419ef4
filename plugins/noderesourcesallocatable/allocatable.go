package noderesourcesallocatable

import (
	"math"
	"math/bits"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// NodeResourcesAllocatable is the plugin. It has no state.
type NodeResourcesAllocatable struct {
	args    Args
	weights int64 // their sum
	wraps   bool  // as upstream where a sum is too large
}

// New makes the plugin. The error lists everything that is wrong with the arguments.
func New(a Args, h extpoints.Handle) (*NodeResourcesAllocatable, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	p := &NodeResourcesAllocatable{args: a.withDefaults(), wraps: h.Compat() == extpoints.KubeScheduler137}
	for _, r := range p.args.Resources {
		p.weights = p.add(p.weights, r.Weight)
	}
	return p, nil
}

// Name returns the plugin's name.
func (*NodeResourcesAllocatable) Name() string { return Name }

// Score is the weighted mean of what can be allocated on the node, negative in mode
// Least.
func (p *NodeResourcesAllocatable) Score(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	var sum int64
	for _, r := range p.args.Resources {
		sum = p.add(sum, p.times(node.Node.Allocatable.Get(r.Name), r.Weight))
	}
	if p.args.Mode == Least {
		sum = -sum
	}
	return sum / p.weights, nil
}

// add adds numbers that are not negative.
func (p *NodeResourcesAllocatable) add(a, b int64) int64 {
	if sum := a + b; sum >= 0 || p.wraps {
		return sum
	}
	return math.MaxInt64
}

// times multiplies numbers that are not negative.
func (p *NodeResourcesAllocatable) times(a, b int64) int64 {
	if hi, lo := bits.Mul64(uint64(a), uint64(b)); p.wraps || hi == 0 && lo <= math.MaxInt64 {
		return int64(lo)
	}
	return math.MaxInt64
}

// NormalizeScore stretches the scores.
func (*NodeResourcesAllocatable) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	return helper.StretchScore(extpoints.MaxScore, scores)
}

// Sign signs nothing: all workloads are alike to it.
func (*NodeResourcesAllocatable) Sign(*model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return nil, nil
}

var (
	_ extpoints.ScoreNormalizer = (*NodeResourcesAllocatable)(nil)
	_ extpoints.SignPlugin      = (*NodeResourcesAllocatable)(nil)
)
