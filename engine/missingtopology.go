package engine

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// missingTopology lists the topology keys of the workload for which no node is in a
// domain, each once.
func missingTopology(view extpoints.ClusterView, w *model.Workload) []string {
	var missing []string
	look := func(key string) {
		if key != "" && !slices.Contains(missing, key) && len(view.Index().Topology(key).Values) == 1 {
			missing = append(missing, key)
		}
	}
	for i := range w.Spread {
		look(w.Spread[i].TopologyKey)
	}
	for _, a := range []*model.WorkloadAffinity{w.Affinity, w.AntiAffinity} {
		if a == nil {
			continue
		}
		for i := range a.Required {
			look(a.Required[i].TopologyKey)
		}
		for i := range a.Preferred {
			look(a.Preferred[i].TopologyKey)
		}
	}
	if g := view.Groups().Get(w.Group); g != nil {
		look(g.TopologyKey)
	}
	return missing
}
