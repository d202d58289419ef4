package app

import (
	"slices"

	"k8s.io/component-base/featuregate"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// kindsOf says which kinds of objects each plugin looks at besides pods, nodes and
// groups: those that kube-scheduler's plugin of the name gets a lister for or
// registers events of (pkg/scheduler/framework/plugins, 1.37.1). Plugins that are
// not here are somebody's own, and may look at all of them.
var kindsOf = map[string][]kubernetes.Kind{
	plugins.InterPodAffinity:  {kubernetes.Namespaces},
	plugins.PodTopologySpread: {kubernetes.Services, kubernetes.ReplicationControllers, kubernetes.ReplicaSets, kubernetes.StatefulSets},
	plugins.DefaultPreemption: {kubernetes.DisruptionBudgets},
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
	plugins.GangScheduling:                  nil,
	plugins.TopologyPlacementGenerator:      nil,
	plugins.PodGroupPodsCount:               nil,
}

// kinds are those to watch, in the order of their names, for the plugins that the
// profiles run; own are those that are somebody's own. Pods that an extender has
// rejected wait for anything to happen, so where one filters all kinds are watched.
// Groups are watched for the queue, whatever the plugins.
func kinds(profiles []extpoints.Profile, own extpoints.Registry, extended bool, enabled func(featuregate.Feature) bool) []kubernetes.Kind {
	var list []kubernetes.Kind
	if extended {
		list = kubernetes.DefaultKinds()
	}
	for i := range profiles {
		for _, name := range named(&profiles[i].Plugins) {
			of, known := kindsOf[name]
			if _, replaced := own[name]; replaced || !known {
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

// named are the plugins that the sets name, whether or not they are then left out at
// some points.
func named(p *extpoints.Plugins) []string {
	var names []string
	for _, set := range []*extpoints.PluginSet{
		&p.MultiPoint, &p.PreEnqueue, &p.QueueSort, &p.PreFilter, &p.Filter, &p.PostFilter, &p.PreScore, &p.Score,
		&p.Reserve, &p.Permit, &p.PreBind, &p.Bind, &p.PostBind, &p.PlacementGenerate, &p.PlacementScore, &p.GroupPostFilter,
	} {
		for _, ref := range set.Enabled {
			names = append(names, ref.Name)
		}
	}
	return names
}
