package devicepacking

import "github.com/berth-project/berth/extpoints"

// dotProd prefers nodes whose idle resources are least aligned with what the
// workload asks for, so that room of the kind that is asked for most is kept.
//
//	100 * (1 - (c*q.c/largestCPU^2 + G*Q/largestShares^2)/2)
//
// with c and G what is left of CPU and of the devices, q.c and Q what is asked.
type dotProd struct{ deterministic }

// Score is the formula, truncated.
func (p *dotProd) Score(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	cpu, shares := float64(p.largestCPU), float64(p.largestShares)
	product := float64(cpuLeft(node))*float64(w.Requests.CPU)/(cpu*cpu) +
		float64(p.idle(node))*float64(p.total(w))/(shares*shares)
	return percent(1 - product/2), nil
}

// bestFit prefers nodes with little left after the workload.
//
//	100 * (1 - (c-q.c)/largestCPU/2 - (G-Q)/largestShares/2)
//
// normalised so that the worst feasible node has 0 and the best 100.
type bestFit struct{ deterministic }

var _ extpoints.ScoreNormalizer = (*bestFit)(nil)

// Score is the formula, truncated; NormalizeScore brings it into range.
func (p *bestFit) Score(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	cpu := 0.5 * float64(cpuLeft(node)-w.Requests.CPU) / float64(p.largestCPU)
	shares := 0.5 * float64(p.idle(node)-p.total(w)) / float64(p.largestShares)
	return int64(min(max(100*(1-cpu-shares), -farOff), farOff)), nil
}

// farOff bounds raw scores, so that those of absurdly large nodes can still be
// normalised.
const farOff = 1e12

// NormalizeScore spreads the scores over 0 to 100, truncating; equal scores all
// become 0.
func (*bestFit) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	normalize(scores)
	return nil
}
