package framework

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/queue"
)

// New compiles the profile. The error lists every problem of the profile.
func New(p extpoints.Profile, env Env) (*Framework, error) {
	f := &Framework{env: env, name: p.Name, percentage: p.PercentageOfNodesToScore, args: map[string]any{}}
	c := &compiler{profile: p, f: f, made: map[string]extpoints.Plugin{}}
	c.profile.Plugins = slices.Clone(p.Plugins) // names are filled in
	if err := p.Validate(); err != nil {
		c.problems = append(c.problems, err)
	}
	c.makePlugins()
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
	filled   []extpoints.Point // those that collect was called for
	problems []error
}

func (c *compiler) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf("profile %q: "+format, append([]any{c.profile.Name}, args...)...))
}

// makePlugins makes every plugin of the profile, each once.
func (c *compiler) makePlugins() {
	for i := range c.profile.Plugins {
		if e := &c.profile.Plugins[i]; e.New != nil {
			c.makePlugin(e)
		}
	}
}

func (c *compiler) makePlugin(e *extpoints.Entry) {
	if e.Name != "" && c.made[e.Name] != nil {
		return // twice, which has been reported
	}
	h := &handle{f: c.f, logger: c.f.env.Logger.Named(e.Name)}
	plugin, name, problems := callFactory(e, h)
	switch {
	case len(problems) > 0:
		for _, err := range problems {
			c.problem("plugin %q: %w", e.Name, err)
		}
		return
	case plugin == nil:
		c.problem("plugin %q: New returned no plugin", e.Name)
		return
	case e.Name == "":
		if e.Name = name; c.made[e.Name] != nil {
			c.problem("plugin %q: is listed twice", e.Name)
			return
		}
		h.logger = c.f.env.Logger.Named(e.Name)
	case name != e.Name:
		c.problem("plugin %q: the plugin that New made calls itself %q", e.Name, name)
		return
	}
	for _, err := range extpoints.CheckPlugin(plugin) {
		c.problem("plugin %q: %w", e.Name, err)
	}
	c.made[e.Name] = plugin
	if e.Args != nil {
		c.f.args[e.Name] = e.Args
	}
	c.f.plugins = append(c.f.plugins, plugin)
	if e.Made != nil {
		c.f.tell = append(c.f.tell, func() { e.Made(plugin) })
	}
}

// callFactory makes the plugin and asks for its name.
func callFactory(e *extpoints.Entry, h extpoints.Handle) (p extpoints.Plugin, name string, problems []error) {
	at := "New"
	defer func() {
		if r := recover(); r != nil {
			problems = []error{fmt.Errorf("%s panicked: %v", at, r)}
		}
	}()
	p, err := e.New(e.Args, h)
	if err = ValidError(err); err != nil {
		return nil, "", joined(err)
	}
	if p != nil {
		at = "Name"
		name = p.Name()
	}
	return p, name, nil
}

// joined are the errors that [errors.Join] has made one of, or the error itself.
func joined(err error) []error {
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	errs := slices.DeleteFunc(slices.Clone(several.Unwrap()), func(err error) bool { return err == nil })
	if len(errs) == 0 || errors.Join(errs...).Error() != err.Error() {
		return []error{err} // it says something of its own
	}
	return errs
}

// fillPoints fills the list of every point.
func (c *compiler) fillPoints() {
	f := c.f
	for _, plugin := range collect[extpoints.PreEnqueuePlugin](c, "PreEnqueue") {
		var asked extpoints.PreEnqueuePlugin = guardedPreEnqueue{plugin.plugin}
		if f.env.Meter != nil {
			asked = &meteredPreEnqueue{PreEnqueuePlugin: asked, meter: f.env.Meter, profile: f.name}
		}
		f.preEnqueue = append(f.preEnqueue, asked)
	}
	f.filters = pluginsOf(collect[extpoints.FilterPlugin](c, "Filter"))
	f.postFilter = pluginsOf(collect[extpoints.PostFilterPlugin](c, "PostFilter"))
	f.reserve = pluginsOf(collect[extpoints.ReservePlugin](c, "Reserve"))
	f.permit = pluginsOf(collect[extpoints.PermitPlugin](c, "Permit"))
	for _, plugin := range f.permit {
		if p, ok := extpoints.As[extpoints.CompanionsPlugin](plugin); ok {
			f.companions = append(f.companions, p)
		}
	}
	f.preBind = pluginsOf(collect[extpoints.PreBindPlugin](c, "PreBind"))
	f.bind = pluginsOf(collect[extpoints.BindPlugin](c, "Bind"))
	f.postBind = pluginsOf(collect[extpoints.PostBindPlugin](c, "PostBind"))
	f.placementFeasible = pluginsOf(collect[extpoints.PlacementFeasiblePlugin](c, "PlacementFeasible"))
	for _, w := range collect[extpoints.PlacementScorePlugin](c, "PlacementScore") {
		s := placementScorer{PlacementScorePlugin: w.plugin, weight: w.weight}
		s.normalizer, _ = extpoints.As[extpoints.PlacementScoreNormalizer](w.plugin)
		f.placementScore = append(f.placementScore, s)
	}
	f.groupPostFilter = pluginsOf(collect[extpoints.GroupPostFilterPlugin](c, "GroupPostFilter"))
	for _, plugin := range f.filters {
		f.wantsRefusals = append(f.wantsRefusals, slices.Contains(names(f.groupPostFilter), plugin.Name()))
	}

	for _, w := range collect[extpoints.ScorePlugin](c, "Score") {
		s := scorer{ScorePlugin: w.plugin, weight: w.weight}
		s.normalizer, _ = extpoints.As[extpoints.ScoreNormalizer](w.plugin)
		f.scores = append(f.scores, s)
		f.scorePlugins = append(f.scorePlugins, w.plugin)
		f.weights = append(f.weights, w.weight)
		if s.normalizer != nil {
			f.normalizing = append(f.normalizing, len(f.scores)-1)
		}
	}
	c.checkTotalWeight()
	for _, plugin := range pluginsOf(collect[extpoints.PreFilterPlugin](c, "PreFilter")) {
		entry := preFilter{PreFilterPlugin: plugin, filter: slices.Index(names(f.filters), plugin.Name())}
		entry.ext, _ = extpoints.As[extpoints.PreFilterExtensions](plugin)
		f.preFilters = append(f.preFilters, entry)
	}
	for _, plugin := range pluginsOf(collect[extpoints.PreScorePlugin](c, "PreScore")) {
		f.preScores = append(f.preScores, preScore{plugin, slices.Index(names(f.scores), plugin.Name())})
	}
	f.findLocal()
	for _, plugin := range f.plugins {
		if s, ok := extpoints.As[extpoints.SignPlugin](plugin); ok {
			f.sign = append(f.sign, s)
		}
	}
	c.fillSingles()
}

// fillSingles fills the points that take a limited number of plugins.
func (c *compiler) fillSingles() {
	f := c.f
	sorts := pluginsOf(collect[extpoints.QueueSortPlugin](c, "QueueSort"))
	if len(sorts) == 1 {
		f.queueSort = sorts[0]
	} else {
		c.problem("QueueSort: exactly one plugin is needed, got %d: %v", len(sorts), names(sorts))
	}
	if len(f.bind) == 0 {
		c.problem("Bind: at least one plugin is needed")
	}
	generate := pluginsOf(collect[extpoints.PlacementGeneratePlugin](c, "PlacementGenerate"))
	switch len(generate) {
	case 0:
	case 1:
		f.placementGenerate = generate[0]
	default:
		c.problem("PlacementGenerate: at most one plugin is allowed, got %v", names(generate))
	}
}

// weighted is a plugin at a point, with the weight that it has there.
type weighted[P extpoints.Plugin] struct {
	plugin P
	weight int64
}

// collect lists the plugins of one point in the order of the profile.
func collect[P extpoints.Plugin](c *compiler, point extpoints.Point) []weighted[P] {
	c.filled = append(c.filled, point)
	var list []weighted[P]
	var serving []string
	for _, e := range c.profile.At(point) {
		plugin, serves := extpoints.As[P](c.made[e.Name])
		switch {
		case serves:
			list = append(list, weighted[P]{plugin, int64(max(e.Weight, 1))})
			name := e.Name
			if e.Weight > 1 {
				name = fmt.Sprintf("%s*%d", e.Name, e.Weight)
			}
			serving = append(serving, name)
		case len(e.Points) > 0:
			c.problem("plugin %q: %s: the plugin does not serve this point", e.Name, point)
		}
	}
	if len(serving) > 0 {
		c.f.serving = append(c.f.serving, Serving{point, serving})
	}
	return list
}

func pluginsOf[P extpoints.Plugin](list []weighted[P]) []P {
	var plugins []P
	for _, w := range list {
		plugins = append(plugins, w.plugin)
	}
	return plugins
}

// checkTotalWeight refuses weights whose best total score is no int64.
func (c *compiler) checkTotalWeight() {
	var total int64
	for i := range c.f.scores {
		w := c.f.scores[i].weight
		if w > math.MaxInt64/extpoints.MaxScore-total {
			c.problem("Score: total score of all plugins could overflow")
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
		ext, ok := extpoints.As[extpoints.EnqueueExtensions](plugin)
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
	for _, point := range []extpoints.Point{"PreEnqueue", "PreFilter", "Filter", "Reserve", "Permit"} {
		if point.Serves(p) {
			return true
		}
	}
	return false
}
