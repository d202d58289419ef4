package config

import (
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/berth-project/berth/extpoints"
)

// point is an extension point, in a file and in the engine.
type point struct {
	name   string
	file   func(*configv1.Plugins) *configv1.PluginSet
	engine func(*extpoints.Plugins) *extpoints.PluginSet
}

// points are all extension points, and MultiPoint.
var points = []point{
	{"multiPoint",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.MultiPoint },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.MultiPoint }},
	{"preEnqueue",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.PreEnqueue },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PreEnqueue }},
	{"queueSort",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.QueueSort },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.QueueSort }},
	{"preFilter",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.PreFilter },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PreFilter }},
	{"filter",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.Filter },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.Filter }},
	{"postFilter",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.PostFilter },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PostFilter }},
	{"preScore",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.PreScore },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PreScore }},
	{"score",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.Score },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.Score }},
	{"reserve",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.Reserve },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.Reserve }},
	{"permit",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.Permit },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.Permit }},
	{"preBind",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.PreBind },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PreBind }},
	{"bind",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.Bind },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.Bind }},
	{"postBind",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.PostBind },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PostBind }},
	{"placementGenerate",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.PlacementGenerate },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PlacementGenerate }},
	{"placementScore",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.PlacementScore },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PlacementScore }},
	{"podGroupPostFilter",
		func(p *configv1.Plugins) *configv1.PluginSet { return &p.PodGroupPostFilter },
		func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.GroupPostFilter }},
}

// weighs reports whether the weights of the point's plugins mean something.
func (p *point) weighs() bool {
	return p.name == "multiPoint" || p.name == "score" || p.name == "placementScore"
}

// fromFile turns the sets of a file into the engine's.
func fromFile(in *configv1.Plugins) extpoints.Plugins {
	var out extpoints.Plugins
	if in == nil {
		return out
	}
	for i := range points {
		from, to := points[i].file(in), points[i].engine(&out)
		for _, plugin := range from.Enabled {
			ref := extpoints.PluginRef{Name: plugin.Name}
			if plugin.Weight != nil {
				ref.Weight = *plugin.Weight
			}
			to.Enabled = append(to.Enabled, ref)
		}
		for _, plugin := range from.Disabled {
			to.Disabled = append(to.Disabled, plugin.Name)
		}
	}
	return out
}

// toFile is the way back. Every plugin has a weight there, 0 for none, as in the
// files that kube-scheduler writes.
func toFile(in extpoints.Plugins) *configv1.Plugins {
	out := &configv1.Plugins{}
	for i := range points {
		from, to := points[i].engine(&in), points[i].file(out)
		for _, ref := range from.Enabled {
			to.Enabled = append(to.Enabled, configv1.Plugin{Name: ref.Name, Weight: new(ref.Weight)})
		}
		for _, name := range from.Disabled {
			to.Disabled = append(to.Disabled, configv1.Plugin{Name: name, Weight: new(int32(0))})
		}
	}
	return out
}

// enabled are the names of all plugins that are enabled at some point.
func enabled(p *configv1.Plugins) map[string]bool {
	names := map[string]bool{}
	for i := range points {
		for _, plugin := range points[i].file(p).Enabled {
			names[plugin.Name] = true
		}
	}
	return names
}
