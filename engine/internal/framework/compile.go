package framework

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/queue"
)

// New compiles the profile with the plugins of the registry. The error lists
// every problem of the profile.
func New(p extpoints.Profile, registry extpoints.Registry, env Env) (*Framework, error) {
	f := &Framework{env: env, name: p.Name, percentage: p.PercentageOfNodesToScore}
	c := &compiler{profile: p, f: f, made: map[string]extpoints.Plugin{}}
	c.makePlugins(registry)
	if len(c.problems) == 0 {
		c.fillPoints()
		c.fillHints()
	}
	if len(c.problems) > 0 {
		return nil, errors.Join(c.problems...)
	}
	return f, nil
}

// compiler builds one Framework and collects what is wrong with its profile.
type compiler struct {
	profile  extpoints.Profile
	f        *Framework
	made     map[string]extpoints.Plugin
	problems []error
}

func (c *compiler) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf("profile %q: "+format, append([]any{c.profile.Name}, args...)...))
}

// point is an extension point by name, for messages, and its set.
type point struct {
	name string
	set  extpoints.PluginSet
}

func (c *compiler) points() []point {
	p := &c.profile.Plugins
	return []point{
		{"preEnqueue", p.PreEnqueue}, {"queueSort", p.QueueSort}, {"preFilter", p.PreFilter},
		{"filter", p.Filter}, {"postFilter", p.PostFilter}, {"preScore", p.PreScore}, {"score", p.Score},
		{"reserve", p.Reserve}, {"permit", p.Permit}, {"preBind", p.PreBind}, {"bind", p.Bind},
		{"postBind", p.PostBind}, {"placementGenerate", p.PlacementGenerate},
		{"placementScore", p.PlacementScore}, {"groupPostFilter", p.GroupPostFilter},
	}
}

// makePlugins makes every plugin that some set enables, each once.
func (c *compiler) makePlugins(registry extpoints.Registry) {
	if c.profile.PercentageOfNodesToScore != nil {
		if v := *c.profile.PercentageOfNodesToScore; v < 0 || v > 100 {
			c.problem("percentageOfNodesToScore: %d is not in [0, 100]", v)
		}
	}
	all := append([]point{{"multiPoint", c.profile.Plugins.MultiPoint}}, c.points()...)
	failed := map[string]bool{}
	for _, pt := range all {
		seen := map[string]bool{}
		for _, ref := range pt.set.Enabled {
			if seen[ref.Name] {
				c.problem("%s: plugin %q is enabled twice", pt.name, ref.Name)
			}
			seen[ref.Name] = true
			if ref.Weight < 0 {
				c.problem("%s: plugin %q: weight %d is negative", pt.name, ref.Name, ref.Weight)
			}
			if c.made[ref.Name] == nil && !failed[ref.Name] {
				failed[ref.Name] = !c.makePlugin(registry, pt.name, ref.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.profile.Args)) {
		if c.made[name] == nil && !failed[name] {
			c.problem("args: plugin %q is not enabled", name)
		}
	}
}

func (c *compiler) makePlugin(registry extpoints.Registry, pointName, name string) bool {
	factory, ok := registry[name]
	if !ok {
		c.problem("%s: plugin %q does not exist", pointName, name)
		return false
	}
	h := handle{f: c.f, logger: c.f.env.Logger.Named(name)}
	plugin, err := callFactory(factory, c.profile.Args[name], h)
	switch {
	case err != nil:
		c.problem("initializing plugin %q: %w", name, err)
	case plugin == nil:
		c.problem("initializing plugin %q: the factory returned no plugin", name)
	case plugin.Name() != name:
		c.problem("initializing plugin %q: the plugin calls itself %q", name, plugin.Name())
	default:
		c.made[name] = plugin
		c.f.plugins = append(c.f.plugins, plugin)
		return true
	}
	return false
}

func callFactory(f extpoints.Factory, args any, h extpoints.Handle) (p extpoints.Plugin, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the factory panicked: %v", r)
		}
	}()
	return f(args, h)
}

// fillPoints fills the list of every point.
func (c *compiler) fillPoints() {
	f, p := c.f, &c.profile.Plugins
	for _, plugin := range collect[extpoints.PreEnqueuePlugin](c, "preEnqueue", p.PreEnqueue) {
		plugin = guardedPreEnqueue{plugin}
		if f.env.Meter != nil {
			plugin = &meteredPreEnqueue{PreEnqueuePlugin: plugin, meter: f.env.Meter, profile: f.name}
		}
		f.preEnqueue = append(f.preEnqueue, plugin)
	}
	f.filters = collect[extpoints.FilterPlugin](c, "filter", p.Filter)
	f.postFilter = collect[extpoints.PostFilterPlugin](c, "postFilter", p.PostFilter)
	f.reserve = collect[extpoints.ReservePlugin](c, "reserve", p.Reserve)
	f.permit = collect[extpoints.PermitPlugin](c, "permit", p.Permit)
	f.preBind = collect[extpoints.PreBindPlugin](c, "preBind", p.PreBind)
	f.bind = collect[extpoints.BindPlugin](c, "bind", p.Bind)
	f.postBind = collect[extpoints.PostBindPlugin](c, "postBind", p.PostBind)
	for _, plugin := range collect[extpoints.PlacementScorePlugin](c, "placementScore", p.PlacementScore) {
		s := placementScorer{PlacementScorePlugin: plugin, weight: c.weight(plugin.Name(), p.PlacementScore)}
		s.normalizer, _ = plugin.(extpoints.PlacementScoreNormalizer)
		f.placementScore = append(f.placementScore, s)
	}
	f.groupPostFilter = collect[extpoints.GroupPostFilterPlugin](c, "groupPostFilter", p.GroupPostFilter)
	for _, plugin := range f.filters {
		f.wantsRefusals = append(f.wantsRefusals, slices.Contains(names(f.groupPostFilter), plugin.Name()))
	}

	for _, plugin := range collect[extpoints.ScorePlugin](c, "score", p.Score) {
		s := scorer{ScorePlugin: plugin, weight: c.weight(plugin.Name(), p.Score)}
		s.normalizer, _ = plugin.(extpoints.ScoreNormalizer)
		f.scores = append(f.scores, s)
	}
	c.checkTotalWeight()
	for _, plugin := range collect[extpoints.PreFilterPlugin](c, "preFilter", p.PreFilter) {
		entry := preFilter{PreFilterPlugin: plugin, filter: slices.Index(names(f.filters), plugin.Name())}
		entry.ext, _ = plugin.(extpoints.PreFilterExtensions)
		f.preFilters = append(f.preFilters, entry)
	}
	for _, plugin := range collect[extpoints.PreScorePlugin](c, "preScore", p.PreScore) {
		f.preScores = append(f.preScores, preScore{plugin, slices.Index(names(f.scores), plugin.Name())})
	}
	for _, plugin := range f.plugins {
		if s, ok := plugin.(extpoints.SignPlugin); ok {
			f.sign = append(f.sign, s)
		}
		// No set of its own: as in kube-scheduler it cannot be configured.
		if p, ok := plugin.(extpoints.PlacementFeasiblePlugin); ok {
			f.placementFeasible = append(f.placementFeasible, p)
		}
	}
	c.fillSingles()
}

// fillSingles fills the points that take a limited number of plugins.
func (c *compiler) fillSingles() {
	f, p := c.f, &c.profile.Plugins
	sorts := collect[extpoints.QueueSortPlugin](c, "queueSort", p.QueueSort)
	if len(sorts) == 1 {
		f.queueSort = sorts[0]
	} else {
		c.problem("queueSort: exactly one plugin is needed, got %d: %v", len(sorts), names(sorts))
	}
	if len(f.bind) == 0 {
		c.problem("bind: at least one plugin is needed")
	}
	generate := collect[extpoints.PlacementGeneratePlugin](c, "placementGenerate", p.PlacementGenerate)
	switch len(generate) {
	case 0:
	case 1:
		f.placementGenerate = generate[0]
	default:
		c.problem("placementGenerate: at most one plugin is allowed, got %v", names(generate))
	}
}

// collect lists the plugins of one point in kube-scheduler's order (framework/
// runtime/framework.go expandMultiPointPlugins, 1.37.1): those of the point's
// own set that MultiPoint has too, then the others of MultiPoint that
// implement the point and are not disabled, then the rest of the own set.
func collect[P extpoints.Plugin](c *compiler, name string, set extpoints.PluginSet) []P {
	var overrides, multi, rest []P
	inMulti := map[string]bool{}
	// A "*" keeps the own set and shuts out MultiPoint altogether.
	if !slices.Contains(set.Disabled, extpoints.AllPlugins) {
		for _, ref := range c.profile.Plugins.MultiPoint.Enabled {
			plugin, ok := c.made[ref.Name].(P)
			if !ok || slices.Contains(set.Disabled, ref.Name) {
				continue
			}
			inMulti[ref.Name] = true
			if !enables(set, ref.Name) {
				multi = append(multi, plugin)
			}
		}
	}
	for _, ref := range set.Enabled {
		plugin, ok := c.made[ref.Name].(P)
		switch {
		case !ok:
			c.problem("%s: plugin %q does not serve this point", name, ref.Name)
		case inMulti[ref.Name]:
			overrides = append(overrides, plugin)
		default:
			rest = append(rest, plugin)
		}
	}
	return slices.Concat(overrides, multi, rest)
}

func enables(set extpoints.PluginSet, name string) bool {
	return slices.ContainsFunc(set.Enabled, func(r extpoints.PluginRef) bool { return r.Name == name })
}

// weight is the plugin's weight in the own set, else in MultiPoint, else 1.
func (c *compiler) weight(name string, own extpoints.PluginSet) int64 {
	for _, set := range []extpoints.PluginSet{own, c.profile.Plugins.MultiPoint} {
		for _, ref := range set.Enabled {
			if ref.Name == name {
				return int64(max(ref.Weight, 1))
			}
		}
	}
	return 1
}

// checkTotalWeight refuses weights whose best total score is no int64.
func (c *compiler) checkTotalWeight() {
	var total int64
	for i := range c.f.scores {
		w := c.f.scores[i].weight
		if w > math.MaxInt64/extpoints.MaxScore-total {
			c.problem("score: total score of all plugins could overflow")
			return
		}
		total += w
	}
}

// fillHints asks every plugin that may reject for the events that may change
// its mind.
func (c *compiler) fillHints() {
	if len(c.f.env.Extenders) > 0 {
		c.listen(extpoints.ExtenderPlugin, everyEvent)
		if c.made[extpoints.ExtenderPlugin] != nil {
			c.problem("plugin %q: the name stands for the extenders where there are any", extpoints.ExtenderPlugin)
		}
	}
	for _, plugin := range c.f.plugins {
		ext, ok := plugin.(extpoints.EnqueueExtensions)
		if !ok {
			if rejects(plugin) {
				c.listen(plugin.Name(), everyEvent)
			}
			continue
		}
		events, err := callEventsToRegister(ext)
		if err != nil {
			c.problem("plugin %q: events to register: %w", plugin.Name(), err)
			continue
		}
		c.listen(plugin.Name(), guardedHints(events))
	}
}

// listen notes which events the plugin wants to know of.
func (c *compiler) listen(plugin string, events []extpoints.EventHint) {
	if m := c.f.env.Meter; m != nil {
		events = meteredHints(m, plugin, events)
	}
	c.f.hints = append(c.f.hints, queue.PluginHints{Plugin: plugin, Events: events})
}

var everyEvent = []extpoints.EventHint{{Event: extpoints.ClusterEvent{Resource: extpoints.AnyResource, Action: extpoints.AllActions}}}

// rejects reports whether the plugin serves a point that can make a workload
// unschedulable.
func rejects(p extpoints.Plugin) bool {
	switch p.(type) {
	case extpoints.PreEnqueuePlugin, extpoints.PreFilterPlugin, extpoints.FilterPlugin,
		extpoints.ReservePlugin, extpoints.PermitPlugin:
		return true
	}
	return false
}
