package nodeaffinity

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// PreScore skips workloads for which there are no preferences, neither their
// own nor added ones. A malformed preference, which fails the cycle in the
// reference, cannot occur in a valid workload and would match nothing.
func (p *NodeAffinity) PreScore(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo) *extpoints.Status {
	if len(preferredTerms(w.Workload)) == 0 && len(p.addedPreferred) == 0 {
		return skip
	}
	return nil
}

func preferredTerms(w *model.Workload) []model.PreferredNodeTerm {
	if w.NodeAffinity == nil {
		return nil
	}
	return w.NodeAffinity.Preferred
}

// Score is the sum of the weights of the preferences that match the node.
func (p *NodeAffinity) Score(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	return weigh(p.addedPreferred, node.Node) + weigh(preferredTerms(w.Workload), node.Node), nil
}

// weigh adds up the weights of the matching terms.
func weigh(terms []model.PreferredNodeTerm, n *model.Node) int64 {
	var sum int64
	for i := range terms {
		if terms[i].Matches(n) {
			sum += int64(terms[i].Weight)
		}
	}
	return sum
}

// NormalizeScore stretches the sums so that the best node has full marks.
func (*NodeAffinity) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	return helper.DefaultNormalizeScore(extpoints.MaxScore, false, scores)
}
