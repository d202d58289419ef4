package config

import (
	"fmt"
	"maps"
	"slices"

	configv1 "k8s.io/kube-scheduler/config/v1"

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
var berthOnly = []string{
	plugins.Devices, plugins.DevicePacking, plugins.NodeHolds, plugins.Coscheduling,
	plugins.NodeResourcesAllocatable, plugins.PodState, plugins.NodeMetadata, plugins.QOSSort, plugins.PreemptionToleration,
	plugins.SySched,
	plugins.TargetLoadPacking, plugins.LoadVariationRiskBalancing, plugins.LowRiskOverCommitment,
	plugins.LoadAwareScheduling, plugins.Peaks,
	plugins.NodeResourcesFitPlus, plugins.ScarceResourceAvoidance,
	plugins.NodeResourceTopologyMatch, plugins.NetworkOverhead, plugins.TopologicalSort,
}

// Where a plugin of Berth's does not serve the points of kube-scheduler's: idleAt are
// those at which kube-scheduler's does nothing, as long as pods are not resized by
// preemption, and addedAt those that are Berth's own affair.
var (
	idleAt  = map[string][]string{"preFilter": {plugins.NodeUnschedulable, plugins.TaintToleration}}
	addedAt = map[string][]string{"preScore": {plugins.ImageLocality}}
)

// Registry says how the plugins that a file can name are made.
type Registry map[string]extpoints.Factory

// DefaultRegistry returns a new registry of the plugins that kube-scheduler 1.37.1
// has (pkg/scheduler/framework/plugins/registry.go), DeferredPodScheduling apart. The
// caller may add plugins to it, Berth's other ones among them.
func DefaultRegistry() Registry {
	r := Registry(plugins.Default())
	for _, name := range berthOnly {
		delete(r, name)
	}
	return r
}

// Merge adds every plugin of other; if any name is taken nothing is added.
func (r Registry) Merge(other Registry) error {
	for _, name := range slices.Sorted(maps.Keys(other)) {
		if _, ok := r[name]; ok {
			return fmt.Errorf("add plugin %q: the name is taken", name)
		}
	}
	maps.Copy(r, other)
	return nil
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
func defaultPlugins(g Gates) *configv1.Plugins {
	sets := &configv1.Plugins{}
	list := &sets.MultiPoint.Enabled
	for _, e := range plugins.DefaultProfile().Plugins {
		if e.Name == nodeResourcesFit && g.runs(deferredPodScheduling) {
			// In front of the filter that room can be made for, so that a node on
			// which none may be made is rejected by this one.
			*list = append(*list, configv1.Plugin{Name: deferredPodScheduling})
		}
		if !slices.Contains(berthOnly, e.Name) && g.has(e.Name) {
			*list = append(*list, configv1.Plugin{Name: e.Name, Weight: new(e.Weight)})
		}
	}
	return sets
}

// has reports whether the plugin is there by default.
func (g Gates) has(name string) bool {
	switch name {
	case plugins.GangScheduling:
		return g.GenericWorkload
	case plugins.TopologyPlacementGenerator, plugins.PodGroupPodsCount:
		return g.TopologyAwareWorkloadScheduling
	}
	return g.runs(name)
}
