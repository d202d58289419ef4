package bridge

import (
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/extpoints"
)

// queued is what waits, for a plugin that sorts the queue. A tree of groups is shown as its
// first member, with the priority of the tree.
func (h *Host) queued(q *extpoints.Queued) fwk.QueuedEntityInfo {
	e := h.opts.Objects.pod(q.Workload)
	info := &framework.QueuedPodInfo{PodInfo: e.podInfo()}
	info.Timestamp, info.Attempts = q.Timestamp, q.Attempts
	if q.Attempts > 0 {
		info.InitialAttemptTimestamp = &q.AddedAt
	}
	if pod := e.pod(); pod.Spec.Priority == nil && q.Priority != 0 || pod.Spec.Priority != nil && *pod.Spec.Priority != q.Priority {
		own, base := *pod, *info.PodInfo
		own.Spec.Priority = &q.Priority
		base.Pod = &own
		info.PodInfo = &base
	}
	return info
}
