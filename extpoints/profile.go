package extpoints

import "slices"

// AllPlugins in PluginSet.Disabled stands for every plugin of the set.
const AllPlugins = "*"

// PluginRef names a plugin in a profile.
type PluginRef struct {
	Name string
	// Weight multiplies the plugin's score; only for Score and
	// PlacementScore (and MultiPoint, for those). 0 means 1.
	Weight int32
}

// PluginSet says which plugins serve one extension point, in order.
type PluginSet struct {
	Enabled []PluginRef
	// Disabled removes plugins that come from the defaults or from
	// MultiPoint; AllPlugins removes them all.
	Disabled []string
}

// Plugins has one set for each extension point, and MultiPoint, whose plugins
// serve every point that they implement.
type Plugins struct {
	MultiPoint        PluginSet
	PreEnqueue        PluginSet
	QueueSort         PluginSet
	PreFilter         PluginSet
	Filter            PluginSet
	PostFilter        PluginSet
	PreScore          PluginSet
	Score             PluginSet
	Reserve           PluginSet
	Permit            PluginSet
	PreBind           PluginSet
	Bind              PluginSet
	PostBind          PluginSet
	PlacementGenerate PluginSet
	PlacementScore    PluginSet
	GroupPostFilter   PluginSet
}

// Profile is one way of scheduling. A workload chooses it by name.
type Profile struct {
	// Name is what [model.Workload].Profile says. Unique in an engine.
	Name    string
	Plugins Plugins
	// Args holds the arguments of plugins by plugin name; see [Factory].
	Args map[string]any
	// PercentageOfNodesToScore overrides the engine's value. Nil: the
	// engine's. 0: adaptive.
	PercentageOfNodesToScore *int32
}

// Merge returns the sets of custom laid over those of p, as kube-scheduler
// lays a configuration over its defaults (pkg/scheduler/apis/config/v1/
// default_plugins.go, 1.37.1): a default that custom disables is dropped; one
// that custom enables again stays in its place with custom's weight; what else
// custom enables follows in its order; the disabled names are joined.
func (p Plugins) Merge(custom Plugins) Plugins {
	merged := p
	for i, set := range merged.sets() {
		*set = mergeSet(*set, *custom.sets()[i])
	}
	return merged
}

func mergeSet(defaults, custom PluginSet) PluginSet {
	merged := PluginSet{Disabled: slices.Concat(custom.Disabled, defaults.Disabled)}
	own := map[string]int{} // index in custom.Enabled, the last where a name is there twice
	for i, ref := range custom.Enabled {
		own[ref.Name] = i
	}
	replaced := map[int]bool{}
	for _, ref := range defaults.Enabled {
		if slices.Contains(merged.Disabled, AllPlugins) || slices.Contains(merged.Disabled, ref.Name) {
			continue
		}
		if i, ok := own[ref.Name]; ok {
			replaced[i] = true
			ref = custom.Enabled[i]
		}
		merged.Enabled = append(merged.Enabled, ref)
	}
	// A name that custom enables twice stays there twice, for the engine to
	// refuse.
	for i, ref := range custom.Enabled {
		if !replaced[i] {
			merged.Enabled = append(merged.Enabled, ref)
		}
	}
	return merged
}

// sets lists the sets in the order of the fields.
func (p *Plugins) sets() []*PluginSet {
	return []*PluginSet{
		&p.MultiPoint, &p.PreEnqueue, &p.QueueSort, &p.PreFilter, &p.Filter, &p.PostFilter,
		&p.PreScore, &p.Score, &p.Reserve, &p.Permit, &p.PreBind, &p.Bind, &p.PostBind,
		&p.PlacementGenerate, &p.PlacementScore, &p.GroupPostFilter,
	}
}
