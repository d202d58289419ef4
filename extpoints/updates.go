package extpoints

import (
	"maps"
	"slices"

	"github.com/berth-project/berth/model"
)

// EventsForNodeUpdate says which events a changed node is, in the order in
// which they are to be offered; none if nothing that matters to scheduling has
// changed.
func EventsForNodeUpdate(old, new *model.Node) []ClusterEvent {
	var events []ClusterEvent
	report := func(changed bool, action Action) {
		if changed {
			events = append(events, ClusterEvent{Resource: NodeResource, Action: action})
		}
	}
	report(old.Unschedulable && !new.Unschedulable, UpdateNodeTaint)
	report(old.MaxWorkloads != new.MaxWorkloads || !sameResources(&old.Allocatable, &new.Allocatable),
		UpdateNodeAllocatable)
	// A zone is like a label to what goes by it; see model.ByZone.
	report(old.Zone != new.Zone || !maps.Equal(old.Labels, new.Labels), UpdateNodeLabel)
	report(!slices.Equal(old.Taints, new.Taints), UpdateNodeTaint)
	report(!slices.Equal(old.Devices, new.Devices), UpdateNodeDevices)
	report(!slices.Equal(old.Features, new.Features), UpdateNodeFeatures)
	return events
}

// EventsForWorkloadUpdate says which events a changed workload is, in the order
// in which they are to be offered; a change of none of the special kinds is one
// plain Update. The kind is AssignedWorkload for a workload on a node, and
// UnscheduledWorkload for one that others look at while it waits; TargetWorkload
// is for the waiting workload itself.
//
// Requests for devices count as requests: kube-scheduler's workloads cannot
// change theirs.
func EventsForWorkloadUpdate(old, new *model.Workload, kind model.ObjectKind) []ClusterEvent {
	var events []ClusterEvent
	report := func(changed bool, action Action) {
		if changed {
			events = append(events, ClusterEvent{Resource: kind, Action: action})
		}
	}
	report(!maps.Equal(old.Labels, new.Labels), UpdateWorkloadLabel)
	report(asksLess(new, old), UpdateWorkloadScaleDown)
	report(asksLess(old, new), UpdateWorkloadScaleUp)
	report(len(old.Gates) > 0 && len(new.Gates) == 0, UpdateWorkloadGatesEliminated)
	// As in kube-scheduler the number decides: tolerations are only ever added.
	report(len(old.Tolerations) != len(new.Tolerations), UpdateWorkloadToleration)
	report(!slices.Equal(old.DeviceClaims, new.DeviceClaims), UpdateWorkloadDeviceClaims)
	report(len(events) == 0, Update)
	return events
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
		if class := b.Devices[i].Class; a.DevicesOf(class) < b.DevicesOf(class) {
			return true
		}
	}
	return false
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
