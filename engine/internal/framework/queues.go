package framework

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Queues is what the plugins of a profile may ask of the order by queues.
type Queues interface {
	// Reclaim is [extpoints.Reclaiming].Reclaim.
	Reclaim(s *extpoints.CycleState, priority int32, members []*extpoints.WorkloadInfo) extpoints.Reclaim
	// KeepsRoom is [queue.Queue.KeepsRoom]. Filters ask it side by side.
	KeepsRoom(nominated, from *model.Workload) bool
}

var queuesKey = extpoints.NewStateKey[Queues]("queues")

// UseQueues lets the plugins of the cycle ask the queues. A cycle without knows of none.
func UseQueues(s *extpoints.CycleState, q Queues) { queuesKey.Set(s, q) }

// MustYield reports whether the workload must leave the other, which is nominated to a
// node, its room there: where the other is not of lower priority, as in kube-scheduler; and
// where the queues say so.
func MustYield(s *extpoints.CycleState, w, nominated *extpoints.WorkloadInfo) bool {
	if nominated.ID == w.ID {
		return false
	}
	if nominated.Priority >= w.Priority {
		return true
	}
	q, _ := queuesKey.Get(s)
	return q != nil && q.KeepsRoom(nominated.Workload, w.Workload)
}

var _ extpoints.Reclaiming = preemption{}

// Reclaim implements [extpoints.Reclaiming].
func (preemption) Reclaim(s *extpoints.CycleState, priority int32, members []*extpoints.WorkloadInfo) extpoints.Reclaim {
	if q, _ := queuesKey.Get(s); q != nil {
		return q.Reclaim(s, priority, members)
	}
	return nil
}
