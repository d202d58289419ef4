package config

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/berth-project/berth/plugins"
)

// byLoad are the plugins that go by measured load.
var byLoad = []string{
	plugins.TargetLoadPacking, plugins.LoadVariationRiskBalancing, plugins.LowRiskOverCommitment,
	plugins.LoadAwareScheduling, plugins.Peaks,
}

// The types of metricProvider that are read.
const (
	metricsServer = "KubernetesMetricsServer"
	prometheus    = "Prometheus"
)

// LoadSource is where measured loads come from.
type LoadSource struct {
	// Provider is "KubernetesMetricsServer" or "Prometheus"; empty: a load-watcher service.
	Provider string
	Address  string // of the service or of Prometheus
	Token    string // that Prometheus wants, empty for none
	// Unverified: any certificate of Prometheus will do.
	Unverified bool
}

// LoadSources lists where enabled plugins have measured loads from, each once, in order. Arguments that cannot be
// read are left out; [Config.Profiles] and the engine report them.
func (c *Config) LoadSources() (list []LoadSource) {
	for i := range c.Effective.Profiles {
		p := &c.Effective.Profiles[i]
		on := enabled(p.Plugins)
		named := map[string]bool{}
		for j := range p.PluginConfig {
			entry := &p.PluginConfig[j]
			if !on[entry.Name] || !slices.Contains(byLoad, entry.Name) {
				continue
			}
			named[entry.Name] = true
			var spec trimaranSpec
			if len(entry.Args.Raw) == 0 || json.Unmarshal(entry.Args.Raw, &spec) == nil {
				list = append(list, spec.source(entry.Name)...)
			}
		}
		for _, name := range byLoad {
			if on[name] && !named[name] {
				list = append(list, (&trimaranSpec{}).source(name)...)
			}
		}
	}
	slices.SortFunc(list, func(a, b LoadSource) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Token, b.Token))
	})
	return slices.Compact(list)
}
