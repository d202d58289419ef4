package app

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/component-base/featuregate"
)

// fixed are the feature gates that change what kube-scheduler decides and that Berth
// has in one state only, which is the default one in 1.37.
//
// Honoured in both states are those in config.Gates, and these:
//
//   - TaintTolerationComparisonOperators: it decides what pods mean; see convert.Gates.
//   - GenericWorkload, CompositePodGroup, DRADeviceTaintRules: off, nothing of them is
//     watched. PodGroupPreemptionPolicy: off, the policies of a group's pods count.
//     DRAWorkloadResourceClaims: what it is about are fields that the API server drops
//     where it is off.
//   - CoordinatedLeaderElection, ComponentFlagz, ComponentStatusz; what apiserver's,
//     client-go's and component-base's libraries ask for.
//   - OpportunisticBatching, SchedulerAsyncAPICalls, SchedulerPreQueueingHints,
//     InterPodAffinityHostnameFastPath: they are about speed, and Berth has its own
//     ways. It decides as kube-scheduler does with OpportunisticBatching off.
//   - DRAFractionalCapacityRange: it is about ranges of capacity with fractions, which
//     the API server takes only where it is on there. Berth counts as kube-scheduler
//     does with it on.
//
// All others mean nothing to a scheduler.
var fixed = map[featuregate.Feature]bool{
	"DRAAdminAccess":                               true,
	"DRAConsumableCapacity":                        true,
	"DRADeviceBindingConditions":                   true,
	"DRADeviceTaints":                              true,
	"DRAExtendedResource":                          true,
	"DRAPartitionableDevices":                      true,
	"DRAPrioritizedList":                           true,
	"DRAResourceClaimDeviceStatus":                 true,
	"InPlacePodLevelResourcesVerticalScaling":      true,
	"InPlacePodVerticalScaling":                    true,
	"MatchLabelKeysInPodTopologySpread":            true,
	"NodeInclusionPolicyInPodTopologySpread":       true,
	"PodLevelResources":                            true,
	"VolumeAttributesClass":                        true,
	"VolumeLimitScaling":                           true,
	"DRADerivedAttributes":                         false,
	"DRADeviceCompatibilityGroups":                 false,
	"DRAListTypeAttributes":                        false,
	"DRANodeAllocatableResources":                  false,
	"DRAOptionalNodeOperations":                    false,
	"InPlacePodVerticalScalingSchedulerPreemption": false,
}

// notHonoured lists the gates that are in a state in which Berth would decide
// otherwise than kube-scheduler does.
func notHonoured(enabled func(featuregate.Feature) bool) []error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(fixed)) {
		if is := enabled(name); is != fixed[name] {
			problems = append(problems, fmt.Errorf("feature gate %s is %t, and Berth can only work with %t: set --feature-gates=%s=%t",
				name, is, fixed[name], name, fixed[name]))
		}
	}
	return problems
}
