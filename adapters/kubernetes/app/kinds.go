package app

import (
	"slices"

	"k8s.io/component-base/featuregate"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// kindsOf says which kinds of objects each plugin looks at besides pods, nodes and
// groups: those that kube-scheduler's plugin with the name gets a lister for or
// registers events of (pkg/scheduler/framework/plugins, 1.37.1). Plugins that are
// not here are somebody's own, and may look at all of them.
var kindsOf = map[string][]kubernetes.Kind{
	plugins.InterPodAffinity:     {kubernetes.Namespaces},
	plugins.PodTopologySpread:    {kubernetes.Services, kubernetes.ReplicationControllers, kubernetes.ReplicaSets, kubernetes.StatefulSets},
	plugins.DefaultPreemption:    {kubernetes.DisruptionBudgets},
	plugins.PreemptionToleration: {kubernetes.DisruptionBudgets, kubernetes.PriorityClasses},
	// A class of devices may stand for a scalar resource.
	plugins.NodeResourcesFit:   {kubernetes.DeviceClasses},
	plugins.DynamicResources:   {kubernetes.DeviceClasses, kubernetes.DeviceSlices, kubernetes.DeviceClaims},
	plugins.VolumeRestrictions: {kubernetes.VolumeClaims},
	plugins.VolumeZone:         {kubernetes.VolumeClaims, kubernetes.Volumes, kubernetes.StorageClasses},
	plugins.VolumeBinding: {
		kubernetes.VolumeClaims, kubernetes.Volumes, kubernetes.StorageClasses,
		kubernetes.StorageNodes, kubernetes.StorageDrivers, kubernetes.StorageCapacities,
	},
	plugins.NodeVolumeLimits: {
		kubernetes.VolumeClaims, kubernetes.Volumes, kubernetes.StorageClasses,
		kubernetes.StorageNodes, kubernetes.StorageDrivers, kubernetes.VolumeAttachments,
	},

	plugins.PrioritySort:                    nil,
	plugins.SchedulingGates:                 nil,
	plugins.NodeName:                        nil,
	plugins.NodeUnschedulable:               nil,
	plugins.TaintToleration:                 nil,
	plugins.NodeAffinity:                    nil,
	plugins.NodePorts:                       nil,
	plugins.NodeResourcesBalancedAllocation: nil,
	plugins.ImageLocality:                   nil,
	plugins.NodeDeclaredFeatures:            nil,
	plugins.DefaultBinder:                   nil,
	plugins.NodeHolds:                       nil,
	plugins.NodeResourcesAllocatable:        nil,
	plugins.NodeResourcesFitPlus:            nil,
	plugins.ScarceResourceAvoidance:         nil,
	plugins.PodState:                        nil,
	plugins.NodeMetadata:                    nil,
	plugins.QOSSort:                         nil,
	plugins.TargetLoadPacking:               nil,
	plugins.LoadVariationRiskBalancing:      nil,
	plugins.LowRiskOverCommitment:           nil,
	plugins.LoadAwareScheduling:             nil,
	plugins.Peaks:                           nil,
	plugins.NodeResourceTopologyMatch:       nil,
	plugins.NetworkOverhead:                 nil,
	plugins.TopologicalSort:                 nil,
	plugins.Coscheduling:                    nil,
	config.CapacityScheduling:               {kubernetes.DisruptionBudgets},
	plugins.SySched:                         nil,
	plugins.GangScheduling:                  nil,
	plugins.TopologyPlacementGenerator:      nil,
	plugins.PodGroupPodsCount:               nil,
}

// customOf says which custom resources each plugin goes by.
var customOf = map[string][]customresources.Kind{
	plugins.NodeResourceTopologyMatch: {customresources.NodeTopologies},
	plugins.NetworkOverhead:           {customresources.AppGroups, customresources.NetworkTopologies},
	plugins.TopologicalSort:           {customresources.AppGroups},
	plugins.SySched:                   {customresources.SeccompProfiles},
	plugins.Coscheduling:              {customresources.PodGroups},
	config.CapacityScheduling:         {customresources.ElasticQuotas},
}

// customKinds are the custom resources to read for the plugins that the profiles run, each
// once, in order. Those that are somebody's own read for themselves.
func customKinds(profiles []extpoints.Profile, own config.Registry) []customresources.Kind {
	var list []customresources.Kind
	for i := range profiles {
		for _, e := range profiles[i].Plugins {
			if _, replaced := own[e.Name]; !replaced {
				list = append(list, customOf[e.Name]...)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// kinds are those to watch, in the order of their names, for the plugins that the
// profiles run; own are those that are somebody's own. Pods that an extender has
// rejected wait for anything to happen, so where one filters all kinds are watched.
// Groups are watched for the queue, whatever the plugins.
func kinds(profiles []extpoints.Profile, own config.Registry, extended bool, enabled func(featuregate.Feature) bool) []kubernetes.Kind {
	var list []kubernetes.Kind
	if extended {
		list = kubernetes.DefaultKinds()
	}
	for i := range profiles {
		for _, e := range profiles[i].Plugins {
			of, known := kindsOf[e.Name]
			if _, replaced := own[e.Name]; replaced || !known {
				of = kubernetes.DefaultKinds()
			}
			list = append(list, of...)
		}
	}
	if slices.Contains(list, kubernetes.DeviceSlices) && enabled("DRADeviceTaintRules") {
		list = append(list, kubernetes.DeviceTaintRules)
	}
	if enabled("GenericWorkload") {
		list = append(list, kubernetes.Groups)
	}
	if enabled("CompositePodGroup") {
		list = append(list, kubernetes.CompositeGroups)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
