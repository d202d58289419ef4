package config

import (
	"slices"

	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/extpoints"
)

// allPlugins in a set's disabled plugins stands for every plugin.
const allPlugins = "*"

// mergePlugins lays the sets of a file over the default ones: a default that the file
// disables is dropped; one that it enables again stays in its place with the file's
// weight; what else it enables follows in its order; the disabled names are joined.
// Every plugin has a weight then, 0 for none.
//
// Rules: apis/config/v1/default_plugins.go mergePlugins, 1.37.1.
func mergePlugins(defaults, custom *configv1.Plugins) *configv1.Plugins {
	if custom == nil {
		custom = &configv1.Plugins{}
	}
	merged := &configv1.Plugins{}
	for i := range points {
		*points[i].in(merged) = mergeSet(points[i].in(defaults), points[i].in(custom))
	}
	return merged
}

func mergeSet(defaults, custom *configv1.PluginSet) configv1.PluginSet {
	var merged configv1.PluginSet
	for _, plugin := range slices.Concat(custom.Disabled, defaults.Disabled) {
		merged.Disabled = append(merged.Disabled, configv1.Plugin{Name: plugin.Name, Weight: new(int32(0))})
	}
	own := map[string]int{} // index in custom.Enabled, the last where a name is there twice
	for i, plugin := range custom.Enabled {
		own[plugin.Name] = i
	}
	replaced := map[int]bool{}
	add := func(plugin configv1.Plugin) {
		merged.Enabled = append(merged.Enabled, configv1.Plugin{Name: plugin.Name, Weight: new(ptr.Deref(plugin.Weight, 0))})
	}
	for _, plugin := range defaults.Enabled {
		if disables(&merged, plugin.Name) {
			continue
		}
		if i, ok := own[plugin.Name]; ok {
			replaced[i] = true
			plugin = custom.Enabled[i]
		}
		add(plugin)
	}
	// A name that the file enables twice stays there twice, to be refused later.
	for i, plugin := range custom.Enabled {
		if !replaced[i] {
			add(plugin)
		}
	}
	return merged
}

func disables(set *configv1.PluginSet, name string) bool {
	return slices.ContainsFunc(set.Disabled, func(p configv1.Plugin) bool { return p.Name == allPlugins || p.Name == name })
}

func enables(set *configv1.PluginSet, name string) bool {
	return slices.ContainsFunc(set.Enabled, func(p configv1.Plugin) bool { return p.Name == name })
}

// entries are the sets as a list. At each point kube-scheduler asks first those of
// the point's own set that MultiPoint has too, in the order of the own set, then the
// others of MultiPoint that serve the point and are not disabled there, and then the
// rest of the own set. So there are entries of single points in front of those of
// MultiPoint and behind them, and the latter leave out the points at which they are
// disabled. A plugin that MultiPoint does not have has an entry that leaves out all
// points of the file: what cannot be configured is asked of it nevertheless.
//
// Rules: framework/runtime/framework.go expandMultiPointPlugins, 1.37.1.
func entries(sets *configv1.Plugins) []extpoints.Entry {
	var front, general, back []extpoints.Entry
	multi := points[0].in(sets)
	for _, plugin := range multi.Enabled {
		e := extpoints.Entry{Name: plugin.Name, Weight: ptr.Deref(plugin.Weight, 0)}
		for i := range points[1:] {
			if p := &points[1+i]; disables(p.in(sets), plugin.Name) {
				e.Except = append(e.Except, p.engine)
			}
		}
		general = append(general, e)
	}
	listed := map[string]bool{}
	for i := range points[1:] {
		p := &points[1+i]
		set := p.in(sets)
		for _, plugin := range set.Enabled {
			e := extpoints.Entry{Name: plugin.Name, Points: []extpoints.Point{p.engine}}
			if p.weighs() {
				e.Weight = ptr.Deref(plugin.Weight, 0)
			}
			inMulti := enables(multi, plugin.Name)
			if inMulti && !disables(set, plugin.Name) {
				front = append(front, e)
			} else {
				back = append(back, e)
			}
			if !inMulti && !listed[plugin.Name] {
				listed[plugin.Name] = true
				general = append(general, extpoints.Entry{Name: plugin.Name, Except: configurable()})
			}
		}
	}
	return slices.Concat(front, general, back)
}

// configurable are the points that a file can configure.
func configurable() []extpoints.Point {
	var list []extpoints.Point
	for i := range points[1:] {
		list = append(list, points[1+i].engine)
	}
	return list
}
