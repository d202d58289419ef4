package queue

import (
	"maps"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
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

// EventsForNodeUpdate says which events a changed node is, in the order in
// which they are to be offered; none if nothing that matters to scheduling has
// changed.
func EventsForNodeUpdate(old, new *model.Node) []extpoints.ClusterEvent {
	var events []extpoints.ClusterEvent
	report := func(changed bool, action extpoints.Action) {
		if changed {
			events = append(events, extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: action})
		}
	}
	report(old.Unschedulable && !new.Unschedulable, extpoints.UpdateNodeTaint)
	report(old.MaxWorkloads != new.MaxWorkloads || !sameResources(&old.Allocatable, &new.Allocatable),
		extpoints.UpdateNodeAllocatable)
	// A zone is like a label to what goes by it; see model.ByZone.
	report(old.Zone != new.Zone || !maps.Equal(old.Labels, new.Labels), extpoints.UpdateNodeLabel)
	report(!slices.Equal(old.Taints, new.Taints), extpoints.UpdateNodeTaint)
	report(!slices.Equal(old.Devices, new.Devices), extpoints.UpdateNodeDevices)
	report(!slices.Equal(old.Features, new.Features), extpoints.UpdateNodeFeatures)
	return events
}

// EventsForWorkloadUpdate says which events a changed workload is, in the order
// in which they are to be offered; a change of none of the special kinds is one
// plain Update. The kind is AssignedWorkload for a workload on a node, and
// UnscheduledWorkload for one that others look at while it waits; the queue
// itself deals with TargetWorkload, see [Queue.Update].
//
// Requests for devices count as requests: kube-scheduler's workloads cannot
// change theirs.
func EventsForWorkloadUpdate(old, new *model.Workload, kind model.ObjectKind) []extpoints.ClusterEvent {
	var events []extpoints.ClusterEvent
	report := func(changed bool, action extpoints.Action) {
		if changed {
			events = append(events, extpoints.ClusterEvent{Resource: kind, Action: action})
		}
	}
	report(!maps.Equal(old.Labels, new.Labels), extpoints.UpdateWorkloadLabel)
	report(asksLess(new, old), extpoints.UpdateWorkloadScaleDown)
	report(asksLess(old, new), extpoints.UpdateWorkloadScaleUp)
	report(len(old.Gates) > 0 && len(new.Gates) == 0, extpoints.UpdateWorkloadGatesEliminated)
	// As in kube-scheduler the number decides: tolerations are only ever added.
	report(len(old.Tolerations) != len(new.Tolerations), extpoints.UpdateWorkloadToleration)
	report(!slices.Equal(old.DeviceClaims, new.DeviceClaims), extpoints.UpdateWorkloadDeviceClaims)
	report(len(events) == 0, extpoints.Update)
	return events
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
	return EventsForWorkloadUpdate(old.Workload, new.Workload, extpoints.TargetWorkload)
}

// asksLess reports whether a asks for less than b of anything, or not at all
// for something that b asks for.
func asksLess(a, b *model.Workload) bool {
	if a.Requests.CPU < b.Requests.CPU || a.Requests.Memory < b.Requests.Memory ||
		a.Requests.EphemeralStorage < b.Requests.EphemeralStorage {
		return true
	}
	for _, s := range b.Requests.Scalars {
		if amount, ok := scalar(&a.Requests, s.Name); !ok || amount < s.Amount {
			return true
		}
	}
	for i := range b.Devices {
		if class := b.Devices[i].Class; devices(a, class) < devices(b, class) {
			return true
		}
	}
	return false
}

// devices is how much the workload asks for of a class of devices.
func devices(w *model.Workload, class string) int64 {
	var sum int64
	for i := range w.Devices {
		if w.Devices[i].Class == class {
			sum += w.Devices[i].Total()
		}
	}
	return sum
}

func sameResources(a, b *model.Resources) bool {
	if a.CPU != b.CPU || a.Memory != b.Memory || a.EphemeralStorage != b.EphemeralStorage ||
		len(a.Scalars) != len(b.Scalars) {
		return false
	}
	for _, s := range a.Scalars {
		if amount, ok := scalar(b, s.Name); !ok || amount != s.Amount {
			return false
		}
	}
	return true
}

func scalar(r *model.Resources, name string) (amount int64, ok bool) {
	for i := range r.Scalars {
		if r.Scalars[i].Name == name {
			return r.Scalars[i].Amount, true
		}
	}
	return 0, false
}
