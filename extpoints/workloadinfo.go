package extpoints

import (
	"time"

	"github.com/berth-project/berth/model"
)

// WorkloadInfo is a workload as the cycle sees it: the workload itself, and
// for one that is on a node what was set aside for it. It is shared and must
// not be changed.
type WorkloadInfo struct {
	*model.Workload
	// Shares are the device shares it holds on its node.
	Shares []model.DeviceShare
	// PlacedAt is when its node was chosen, or when it started where the
	// orchestrator says so; zero for a workload on no node.
	PlacedAt time.Time
	// GrantedLimit is the limit with which it was placed, or is tried, where that is shorter
	// than its own; 0: its own. See RunLimit.
	GrantedLimit time.Duration
	// Nominated is the node that it waits for, empty for none.
	Nominated string
	// Terminating: it is terminating and still takes room.
	Terminating bool
	// Displaced: it is terminating to make room for another (Kubernetes:
	// condition DisruptionTarget, reason PreemptionByScheduler).
	Displaced bool
}

// RunLimit is the longest time for which the workload may run where it is, or where it is
// tried; 0: no limit.
func (w *WorkloadInfo) RunLimit() time.Duration {
	if w.GrantedLimit > 0 && (w.Limit == 0 || w.GrantedLimit < w.Limit) {
		return w.GrantedLimit
	}
	return w.Limit
}

// hasRequiredAntiAffinity reports whether the workload has required
// anti-affinity terms.
func (w *WorkloadInfo) hasRequiredAntiAffinity() bool {
	return w.AntiAffinity != nil && len(w.AntiAffinity.Required) > 0
}
