package config

import "k8s.io/component-base/featuregate"

// Gates are the feature gates of kube-scheduler that decide what a configuration
// means: which plugins there are by default, which arguments are allowed and what
// their defaults are, and how plugins and queue work. Each field has the name of
// its gate. The zero value has all of them off; start from [DefaultGates].
type Gates struct {
	// The plugins of the same name, DynamicResources and DeferredPodScheduling are
	// there by default, and do something, only where these are on.
	NodeDeclaredFeatures                         bool
	DynamicResourceAllocation                    bool // for DynamicResources
	InPlacePodVerticalScalingSchedulerPreemption bool // for DeferredPodScheduling, which Berth does not have
	// GangScheduling is there by default.
	GenericWorkload bool
	// TopologyPlacementGenerator and PodGroupPodsCount are there by default.
	TopologyAwareWorkloadScheduling bool

	// VolumeBinding scores nodes by their storage, and has the argument shape.
	StorageCapacityScoring bool
	// DynamicResources has the argument filterTimeout.
	DRASchedulerFilterTimeout bool
	// DynamicResources has the argument bindingTimeout where both are on.
	DRADeviceBindingConditions   bool
	DRAResourceClaimDeviceStatus bool // see DRADeviceBindingConditions

	// Nothing waits for evictions but the pod that they make room for.
	SchedulerAsyncPreemption bool
	// A pod that backs off may be tried early where nothing else is to be done.
	SchedulerPopFromBackoffQ bool
}

// DefaultGates are the gates as they are in kube-scheduler 1.37.1 without flags
// (pkg/features/kube_features.go).
func DefaultGates() Gates {
	return Gates{
		NodeDeclaredFeatures:         true,
		DynamicResourceAllocation:    true,
		StorageCapacityScoring:       true,
		DRASchedulerFilterTimeout:    true,
		DRADeviceBindingConditions:   true,
		DRAResourceClaimDeviceStatus: true,
		SchedulerAsyncPreemption:     true,
		SchedulerPopFromBackoffQ:     true,
	}
}

// GatesOf asks for each gate by its name, which the function must know; it is the
// method Enabled of a [featuregate.FeatureGate], for example.
func GatesOf(enabled func(featuregate.Feature) bool) Gates {
	return Gates{
		NodeDeclaredFeatures:                         enabled("NodeDeclaredFeatures"),
		DynamicResourceAllocation:                    enabled("DynamicResourceAllocation"),
		InPlacePodVerticalScalingSchedulerPreemption: enabled("InPlacePodVerticalScalingSchedulerPreemption"),
		GenericWorkload:                              enabled("GenericWorkload"),
		TopologyAwareWorkloadScheduling:              enabled("TopologyAwareWorkloadScheduling"),
		StorageCapacityScoring:                       enabled("StorageCapacityScoring"),
		DRASchedulerFilterTimeout:                    enabled("DRASchedulerFilterTimeout"),
		DRADeviceBindingConditions:                   enabled("DRADeviceBindingConditions"),
		DRAResourceClaimDeviceStatus:                 enabled("DRAResourceClaimDeviceStatus"),
		SchedulerAsyncPreemption:                     enabled("SchedulerAsyncPreemption"),
		SchedulerPopFromBackoffQ:                     enabled("SchedulerPopFromBackoffQ"),
	}
}

// runs reports whether the plugin does anything. The three that hang on a gate are
// made without it, too, but then let everything pass.
//
// Rules: the function New of plugins/dynamicresources, nodedeclaredfeatures and
// deferredpodscheduling, 1.37.1.
func (g Gates) runs(plugin string) bool {
	switch plugin {
	case nodeDeclaredFeatures:
		return g.NodeDeclaredFeatures
	case dynamicResources:
		return g.DynamicResourceAllocation
	case deferredPodScheduling:
		return g.InPlacePodVerticalScalingSchedulerPreemption
	}
	return true
}
