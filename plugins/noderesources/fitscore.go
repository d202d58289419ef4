package noderesources

import (
	"github.com/berth-project/berth/extpoints"
)

// fitRequests holds, from PreScore to Score, what the workload asks for of each
// resource that counts.
var fitRequests = extpoints.NewStateKey[[]int64](Name + "/requests")

// PreScore lists what the workload asks for. It never says Skip: a workload
// without requests has an estimated load.
func (f *Fit) PreScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo) *extpoints.Status {
	fitRequests.Set(s, f.scorer.requests(w.Workload))
	return nil
}

// Score says how full the node would be, by the strategy. It is in the range
// of scores by itself.
func (f *Fit) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	requests, ok := fitRequests.Get(s)
	if !ok {
		requests = f.scorer.requests(w.Workload)
	}
	return f.scorer.node(node, requests), nil
}
