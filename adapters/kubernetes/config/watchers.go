package config

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/berth-project/berth/plugins"
)

// byLoad are the plugins that go by measured load.
var byLoad = []string{
	plugins.TargetLoadPacking, plugins.LoadVariationRiskBalancing, plugins.LowRiskOverCommitment,
	plugins.LoadAwareScheduling, plugins.Peaks,
}

// LoadWatchers lists the addresses of the load-watcher services that enabled plugins name,
// each once, in order. Arguments that cannot be read are left out; [Config.Profiles] and the
// engine report them.
func (c *Config) LoadWatchers() []string {
	found := map[string]bool{}
	for i := range c.Effective.Profiles {
		p := &c.Effective.Profiles[i]
		on := enabled(p.Plugins)
		for j := range p.PluginConfig {
			entry := &p.PluginConfig[j]
			if !on[entry.Name] || !slices.Contains(byLoad, entry.Name) {
				continue
			}
			var args struct {
				WatcherAddress string `json:"watcherAddress"`
			}
			if err := json.Unmarshal(entry.Args.Raw, &args); err == nil && args.WatcherAddress != "" {
				found[args.WatcherAddress] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
