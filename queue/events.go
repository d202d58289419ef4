package queue

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// WorkloadAdded is the event of a new workload that is on no node.
var WorkloadAdded = extpoints.ClusterEvent{Resource: extpoints.UnscheduledWorkload, Action: extpoints.Add}

// WorkloadDemandsChanged is the event of a waiting workload that has changed in a
// way that no event of its own stands for; it is offered with the new version
// and concerns nobody else.
var WorkloadDemandsChanged = everything(DemandsChanged)

var (
	forceActivate        = everything(ForceActivate)
	unschedulableTimeout = everything(UnschedulableTimeout)
)

func everything(label string) extpoints.ClusterEvent {
	return extpoints.ClusterEvent{Resource: extpoints.AnyResource, Action: extpoints.AllActions, Label: label}
}

// targetEvents are the events of a waiting workload that has changed. Where it
// asks for something else than before in a way that no event of its own stands
// for, whatever plugin rejected it may see it differently now. (A Kubernetes pod
// cannot change so; workloads of other orchestrators can.)
func targetEvents(old, new *extpoints.WorkloadInfo) []extpoints.ClusterEvent {
	// Other tolerations in place of as many do not show in their number.
	replaced := len(old.Tolerations) == len(new.Tolerations) && !slices.Equal(old.Tolerations, new.Tolerations)
	if replaced || !old.SameDemands(new.Workload) {
		return []extpoints.ClusterEvent{WorkloadDemandsChanged}
	}
	return extpoints.EventsForWorkloadUpdate(old.Workload, new.Workload, extpoints.TargetWorkload)
}
