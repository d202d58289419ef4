package decisionlevel

import (
	"slices"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// Mistakes are mistakes to make on purpose, by name: each is one that must be
// noticed sooner or later. A case that notices one is a case in which that part
// of the engine matters.
func Mistakes() map[string]Options {
	mistakes := map[string]Options{
		"the choice among equals": {Change: func(c *engine.Config) { c.TieBreak = engine.TieBreakLowestIndex }},
		"the share of nodes":      {Change: func(c *engine.Config) { c.Profiles[0].PercentageOfNodesToScore = new(int32(100)) }},
		"the length of backoff":   {Change: func(c *engine.Config) { c.Queue.InitialBackoff = 2 * time.Second }},
		"the end of backoff":      {Change: func(c *engine.Config) { c.Queue.NoPopFromBackoff = true }},
		"budgets":                 {Deaf: func(c engine.Change) bool { return c.Verb() == "put budget" }},
		"namespaces":              {Deaf: func(c engine.Change) bool { return c.Verb() == "put namespace" }},
		"pods on their way out":   {Deaf: func(c engine.Change) bool { return c.Verb() == "terminate" }},
		"the order of filters": {Change: func(c *engine.Config) {
			slices.Reverse(c.Profiles[0].Plugins)
		}},
	}
	for _, ref := range plugins.DefaultProfile().Plugins {
		switch ref.Name {
		case plugins.PrioritySort, plugins.DefaultBinder: // there must be one
			continue
		case plugins.Devices: // has no counterpart
			continue
		case plugins.PodGroupPodsCount: // is enabled where placements are scored; see below
			continue
		case plugins.NodeName: // no pod that waits names its node
		default:
			mistakes[ref.Name] = without(ref.Name)
		}
		// The plugin level compares the scores of DynamicResources: alternatives in
		// a claim rarely decide between nodes.
		if ref.Weight > 0 && ref.Name != plugins.DynamicResources {
			mistakes["the weight of "+ref.Name] = heavier(ref.Name)
		}
	}
	for _, name := range []string{plugins.PodGroupPodsCount, plugins.NodeResourcesFit} {
		mistakes["placements by "+name] = Options{About: Groups, Change: func(c *engine.Config) {
			p := &c.Profiles[0]
			p.Plugins = slices.DeleteFunc(p.Plugins, func(e extpoints.Entry) bool { return e.Name == name && len(e.Points) > 0 })
		}}
	}
	return mistakes
}

// subjects are what the cases must be about in which a plugin matters; most
// matter in all.
var subjects = map[string]About{
	plugins.VolumeRestrictions: Storage, plugins.NodeVolumeLimits: Storage, plugins.VolumeBinding: Storage, plugins.VolumeZone: Storage,
	plugins.DynamicResources: Devices, plugins.TopologyPlacementGenerator: Groups, plugins.GangScheduling: Groups,
}

// without leaves a plugin out.
func without(name string) Options {
	return Options{About: subjects[name], Change: func(c *engine.Config) {
		c.Profiles[0].Remove(name)
	}}
}

// heavier gives a plugin too much weight.
func heavier(name string) Options {
	return Options{About: subjects[name], Change: func(c *engine.Config) {
		list := c.Profiles[0].Plugins
		list[slices.IndexFunc(list, func(e extpoints.Entry) bool { return e.Name == name })].Weight += 5
	}}
}
