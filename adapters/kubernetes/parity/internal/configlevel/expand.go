package configlevel

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// point is an extension point of Berth's, by its name in a file.
type point struct {
	name   string
	set    func(*extpoints.Plugins) *extpoints.PluginSet
	serves func(extpoints.Plugin) bool
}

func is[P extpoints.Plugin](p extpoints.Plugin) bool { _, ok := p.(P); return ok }

// points are all of them.
var points = []point{
	{"preEnqueue", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PreEnqueue }, is[extpoints.PreEnqueuePlugin]},
	{"queueSort", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.QueueSort }, is[extpoints.QueueSortPlugin]},
	{"preFilter", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PreFilter }, is[extpoints.PreFilterPlugin]},
	{"filter", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.Filter }, is[extpoints.FilterPlugin]},
	{"postFilter", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PostFilter }, is[extpoints.PostFilterPlugin]},
	{"preScore", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PreScore }, is[extpoints.PreScorePlugin]},
	{"score", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.Score }, is[extpoints.ScorePlugin]},
	{"reserve", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.Reserve }, is[extpoints.ReservePlugin]},
	{"permit", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.Permit }, is[extpoints.PermitPlugin]},
	{"preBind", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PreBind }, is[extpoints.PreBindPlugin]},
	{"bind", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.Bind }, is[extpoints.BindPlugin]},
	{"postBind", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PostBind }, is[extpoints.PostBindPlugin]},
	{"placementGenerate", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PlacementGenerate }, is[extpoints.PlacementGeneratePlugin]},
	{"placementScore", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.PlacementScore }, is[extpoints.PlacementScorePlugin]},
	{"podGroupPostFilter", func(p *extpoints.Plugins) *extpoints.PluginSet { return &p.GroupPostFilter }, is[extpoints.GroupPostFilterPlugin]},
}

// expand lists the plugins of every point, as the comments of [extpoints.Plugins]
// say that the engine does.
func expand(p *extpoints.Profile, made map[string]extpoints.Plugin) map[string][]string {
	list := map[string][]string{}
	multi := p.Plugins.MultiPoint.Enabled
	for _, pt := range points {
		own := pt.set(&p.Plugins)
		shut := func(name string) bool {
			return slices.Contains(own.Disabled, extpoints.AllPlugins) || slices.Contains(own.Disabled, name)
		}
		comes := func(ref extpoints.PluginRef) bool { return pt.serves(made[ref.Name]) && !shut(ref.Name) }
		var first, rest []string
		for _, ref := range own.Enabled {
			text := withWeight(pt.name, ref.Name, int64(max(ref.Weight, 1)))
			if has(multi, ref.Name) && comes(ref) {
				first = append(first, text)
			} else {
				rest = append(rest, text)
			}
		}
		for _, ref := range multi {
			if comes(ref) && !has(own.Enabled, ref.Name) {
				first = append(first, withWeight(pt.name, ref.Name, int64(max(ref.Weight, 1))))
			}
		}
		if all := append(first, rest...); len(all) > 0 {
			list[pt.name] = all
		}
	}
	return list
}

func has(list []extpoints.PluginRef, name string) bool {
	return slices.ContainsFunc(list, func(ref extpoints.PluginRef) bool { return ref.Name == name })
}
