package convert

import (
	"time"

	v1 "k8s.io/api/core/v1"
)

// PodStatus is how a pod is doing, as far as an engine has to be told. What it
// is told (see engine.Change), by the first line that fits:
//
//	Finished                Finish, where it knows the pod
//	no Node, Terminating    Remove, where it knows the pod: it goes without having been anywhere
//	no Node                 Submit
//	Node                    Adopt, with Since: StartedAt, or Confirm where it knows the pod
//	Node, Terminating       the same, and then Terminate
type PodStatus struct {
	// Node is the node that it is on, empty for none. A node may be named that
	// does not exist.
	Node string
	// StartedAt is when its node took it on; zero: it has not said so.
	// Preemption takes such a pod for one that starts now.
	StartedAt time.Time
	// Terminating: it has been told to go, and may still take room.
	Terminating bool
	// Displaced: it was told so by a scheduler, to make room for another. It
	// counts where Terminating holds as well.
	Displaced bool
	// Nominated is the node that it waits for, empty for none.
	Nominated string
	// Finished: its containers have ended and will not start again. It takes
	// no room, and kube-scheduler does not see it at all.
	Finished bool
}

// Status says how the pod is doing.
//
// Rules: kube-scheduler pkg/scheduler/framework/preemption/util.go
// (PodTerminatingByPreemption), pkg/scheduler/scheduler.go (the filter of the
// informer), 1.37.1.
func Status(p *v1.Pod) PodStatus {
	s := PodStatus{
		Node:        p.Spec.NodeName,
		Terminating: p.DeletionTimestamp != nil,
		Nominated:   p.Status.NominatedNodeName,
		Finished:    p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed,
	}
	if p.Status.StartTime != nil {
		s.StartedAt = p.Status.StartTime.Time
	}
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.DisruptionTarget {
			s.Displaced = c.Status == v1.ConditionTrue && c.Reason == v1.PodReasonPreemptionByScheduler
			break // the first of the type is the one that counts
		}
	}
	return s
}
