package noderesources

import "github.com/berth-project/berth/extpoints"

// ScorePlacement says how full the nodes of the placement would be all together
// with the members of the group that are proposed for them: fuller is better,
// whatever the strategy for nodes. The resources and their weights are those of
// that strategy. The proposed members must not be on the placement's nodes yet.
func (f *Fit) ScorePlacement(_ *extpoints.CycleState, _ *extpoints.GroupInfo, a *extpoints.Assignments) (int64, *extpoints.Status) {
	requests := make([]int64, len(f.placements.resources))
	for i := range a.Proposals {
		for j, r := range f.placements.requests(a.Proposals[i].Workload.Workload) {
			requests[j] = sum(requests[j], r)
		}
	}
	return f.placements.placement(a.Placement.Nodes, requests), nil
}

// placement scores all nodes of a placement as if they were one, for members
// of a group with the given sum of requests, which it changes. Which scalars
// count is asked anew for each node, with what was used on the nodes before it
// added in, as the reference does (kube-scheduler plugins/noderesources/
// resource_allocation.go scorePlacement, 1.37.1): what no member asks for does
// not count anywhere.
func (m *meanScorer) placement(nodes []*extpoints.NodeInfo, requests []int64) int64 {
	capacities := make([]int64, len(m.resources))
	for _, n := range nodes {
		for i := range m.resources {
			r := &m.resources[i]
			if !r.counts(requests[i]) {
				continue
			}
			if capacity := r.capacity(n.Node); capacity != 0 {
				capacities[i] = sum(capacities[i], capacity)
				requests[i] = sum(requests[i], r.estimated(n))
			}
		}
	}
	var total mean
	for i := range m.resources {
		if capacities[i] != 0 {
			m.add(&total, &m.resources[i], requests[i], capacities[i])
		}
	}
	return m.result(total)
}
