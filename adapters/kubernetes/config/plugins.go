package config

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// The names of the plugins that this package says something special about.
const (
	defaultPreemption    = plugins.DefaultPreemption
	dynamicResources     = plugins.DynamicResources
	interPodAffinity     = plugins.InterPodAffinity
	nodeAffinity         = plugins.NodeAffinity
	nodeDeclaredFeatures = plugins.NodeDeclaredFeatures
	balancedAllocation   = plugins.NodeResourcesBalancedAllocation
	nodeResourcesFit     = plugins.NodeResourcesFit
	podTopologySpread    = plugins.PodTopologySpread
	volumeBinding        = plugins.VolumeBinding

	// deferredPodScheduling is the one that Berth does not have.
	deferredPodScheduling = "DeferredPodScheduling"
)

// berthOnly are the plugins of package plugins that kube-scheduler does not have.
// An operator's own plugins may have these names, for example Coscheduling, which
// is also in kubernetes-sigs/scheduler-plugins.
var berthOnly = []string{plugins.Devices, plugins.DevicePacking, plugins.Coscheduling}

// Where a plugin of Berth's does not serve the points of kube-scheduler's: idleAt are
// those at which kube-scheduler's does nothing, as long as pods are not resized by
// preemption, and addedAt those that are Berth's own affair.
var (
	idleAt  = map[string][]string{"preFilter": {plugins.NodeUnschedulable, plugins.TaintToleration}}
	addedAt = map[string][]string{"preScore": {plugins.ImageLocality}}
)

// Registry returns a new registry of the plugins that kube-scheduler 1.37.1 has
// (pkg/scheduler/framework/plugins/registry.go), DeferredPodScheduling apart. The
// caller may add plugins to it, Berth's other ones among them.
func Registry() extpoints.Registry {
	r := plugins.Default()
	for _, name := range berthOnly {
		delete(r, name)
	}
	return r
}

// isKubernetes reports whether kube-scheduler comes with the plugin.
func isKubernetes(name string) bool {
	_, known := plugins.Default()[name]
	return known && !slices.Contains(berthOnly, name) || name == deferredPodScheduling
}

// defaultPlugins are those that a profile starts from. Their order and weights are
// those of [plugins.DefaultProfile].
//
// Rules: apis/config/v1/default_plugins.go getDefaultPlugins, 1.37.1.
func defaultPlugins(g Gates) extpoints.Plugins {
	sets := plugins.DefaultProfile().Plugins
	list := slices.DeleteFunc(sets.MultiPoint.Enabled, func(ref extpoints.PluginRef) bool {
		switch ref.Name {
		case plugins.GangScheduling:
			return !g.GenericWorkload
		case plugins.TopologyPlacementGenerator, plugins.PodGroupPodsCount:
			return !g.TopologyAwareWorkloadScheduling
		}
		return slices.Contains(berthOnly, ref.Name) || !g.runs(ref.Name)
	})
	if g.runs(deferredPodScheduling) {
		// In front of the filter that room can be made for, so that a node on which
		// none may be made is rejected by this one.
		at := slices.IndexFunc(list, func(ref extpoints.PluginRef) bool { return ref.Name == nodeResourcesFit })
		list = slices.Insert(list, at, extpoints.PluginRef{Name: deferredPodScheduling})
	}
	sets.MultiPoint.Enabled = list
	return sets
}
