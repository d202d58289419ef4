package bridge

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// podInfo is a pod with the workload that it is.
type podInfo struct {
	*framework.PodInfo
	workload *extpoints.WorkloadInfo
}

var _ fwk.PodInfo = (*podInfo)(nil)

// podInfo makes the PodInfo of a workload on the node; empty: on none.
func (h *Host) podInfo(w *extpoints.WorkloadInfo, node string) *podInfo {
	e := h.opts.Objects.pod(w.Workload)
	base := e.podInfo()
	pod := asItIs(e.pod(), w, node)
	if pod != base.Pod {
		own := *base
		own.Pod = pod
		base = &own
	}
	return &podInfo{base, w}
}

// asItIs is the pod with what the engine knows better. It is a shallow copy where
// something is different.
func asItIs(pod *v1.Pod, w *extpoints.WorkloadInfo, node string) *v1.Pod {
	nominated := w.Nominated
	if node != "" {
		nominated = pod.Status.NominatedNodeName // of no interest any more
	}
	going := w.Terminating && pod.DeletionTimestamp == nil
	displaced := w.Displaced && !hasDisruption(pod)
	started := !w.PlacedAt.IsZero() && pod.Status.StartTime == nil
	if pod.Spec.NodeName == node && pod.Status.NominatedNodeName == nominated && !going && !displaced && !started {
		return pod
	}
	own := *pod
	own.Spec.NodeName = node
	own.Status.NominatedNodeName = nominated
	if going {
		// When is not known; plugins ask whether. It has begun when it was placed at
		// the earliest.
		own.DeletionTimestamp = &metav1.Time{Time: w.PlacedAt}
	}
	if displaced {
		own.Status.Conditions = append(own.Status.Conditions[:len(pod.Status.Conditions):len(pod.Status.Conditions)], v1.PodCondition{
			Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler,
		})
	}
	if started {
		own.Status.StartTime = &metav1.Time{Time: w.PlacedAt}
	}
	return &own
}

func hasDisruption(pod *v1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == v1.DisruptionTarget && c.Status == v1.ConditionTrue {
			return true
		}
	}
	return false
}

// waitingPod is the pod of a workload that waits, as points are given it that know no
// more.
func (h *Host) waitingPod(w *model.Workload) *v1.Pod {
	pod := h.opts.Objects.pod(w).pod()
	if pod.Spec.NodeName == "" {
		return pod
	}
	own := *pod
	own.Spec.NodeName = ""
	return &own
}

// workloadOf is the workload of a pod that a plugin gives.
func (h *Host) workloadOf(pod *v1.Pod) (*extpoints.WorkloadInfo, error) {
	w, err := h.opts.Gates.Pod(pod)
	if w == nil {
		return nil, err
	}
	put(h.opts.Objects, w, pod)
	return &extpoints.WorkloadInfo{Workload: w, Nominated: pod.Status.NominatedNodeName, Terminating: pod.DeletionTimestamp != nil}, nil
}
