package noderesources

import (
	"slices"

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

// ScorePlacement says how full the nodes of the placement would be all together
// with the members of the group that are proposed for them: fuller is better,
// whatever the strategy for nodes.
func (f *Fit) ScorePlacement(_ *extpoints.CycleState, g *extpoints.GroupInfo, a *extpoints.Assignments) (int64, *extpoints.Status) {
	requests := make([]int64, len(f.placements.resources))
	for _, b := range a.Bindings {
		i := slices.IndexFunc(g.Members, func(w *extpoints.WorkloadInfo) bool { return w.ID == b.Workload })
		if i < 0 {
			return 0, extpoints.NewStatus(extpoints.Error, "workload "+b.Workload+" is not a member of group "+g.ID)
		}
		for j, r := range f.placements.requests(g.Members[i].Workload) {
			requests[j] += r
		}
	}
	return f.placements.placement(a.Placement.Nodes, requests), nil
}
