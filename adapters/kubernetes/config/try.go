package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
)

// Try lists what [Config.Validate] leaves open and can be known before there is an engine: what
// Profiles, Extenders and UnconfinedProfile find, and what plugins have against their arguments
// and the points at which they are enabled. For that each is made. Those in own, an operator's,
// are not: they may need what only a scheduler that is connected has.
//
// The configuration need not be valid. What Validate reports is not reported again.
func (c *Config) Try(devices allocator.Evaluator, registry, own Registry) error {
	var p problems
	_, err := c.translate(translation{devices: devices, registry: registry, trial: &trial{own: own}})
	p.add(err)
	_, err = c.Extenders(nil)
	p.add(err)
	if own[plugins.SySched] == nil {
		_, err = c.UnconfinedProfile()
		p.add(err)
	}
	if own[CapacityScheduling] == nil && c.enables(CapacityScheduling) {
		p.addEach(queueing.Kind, c.QueueingWithQuotas().Validate())
	}
	return withoutConsequences(utilerrors.FilterOut(p.err(), sameFieldAs(c.Validate())), c.unfit)
}

// enables reports whether a profile enables the plugin.
func (c *Config) enables(plugin string) bool {
	return slices.ContainsFunc(c.Effective.Profiles, func(p configv1.KubeSchedulerProfile) bool { return enabled(p.Plugins)[plugin] })
}

// sameFieldAs matches errors about a field that one of the others is about, too, or about a field
// of it.
func sameFieldAs(others error) utilerrors.Matcher {
	var known []string
	for _, err := range errorsOf(others) {
		if at, ok := err.(*field.Error); ok { //nolint:errorlint // what wraps one is about something else
			known = append(known, at.Field)
		}
	}
	return func(err error) bool {
		at, ok := err.(*field.Error) //nolint:errorlint // as above
		return ok && slices.ContainsFunc(known, func(path string) bool {
			return at.Field == path || strings.HasPrefix(at.Field, path+".") || strings.HasPrefix(path, at.Field+".")
		})
	}
}

// trial makes plugins to see what they say.
type trial struct {
	own    Registry // those that are not made
	sorter string   // of the queue, of the first profile; empty where that is not known
}

// try reports what the plugins of a profile say. Where the arguments of one are refused it is
// made with none, for its points.
func (t *translation) try(path *field.Path, in *configv1.KubeSchedulerProfile, out *extpoints.Profile, refused map[string]bool) {
	made, all := map[string]extpoints.Plugin{}, true
	for i := range out.Plugins {
		e := &out.Plugins[i]
		switch {
		case made[e.Name] != nil || len(e.Points) > 0:
			continue
		case e.New == nil || t.trial.own[e.Name] != nil:
			all = false
			continue
		}
		plugin, err := e.New(e.Args, trialHandle{profile: out.Name})
		if err != nil {
			all = false
			if !refused[e.Name] {
				t.addEach(fmt.Sprintf("%s: %s", argsPath(path, in, e.Name), e.Name), err)
			}
			continue
		}
		made[e.Name] = plugin
	}
	t.refusePoints(path.Child("plugins"), in.Plugins, made)
	if all {
		t.countSingles(path.Child("plugins"), out, made)
	}
}

// argsPath is where a file has the arguments of the plugin, or the list of them all.
func argsPath(path *field.Path, in *configv1.KubeSchedulerProfile, plugin string) *field.Path {
	list := path.Child("pluginConfig")
	if i := slices.IndexFunc(in.PluginConfig, func(c configv1.PluginConfig) bool { return c.Name == plugin }); i >= 0 {
		return list.Index(i).Child("args")
	}
	return list
}

// refusePoints reports plugins at points that they do not serve.
func (t *translation) refusePoints(path *field.Path, sets *configv1.Plugins, made map[string]extpoints.Plugin) {
	for i := range points[1:] {
		p := &points[1+i]
		for j, plugin := range p.in(sets).Enabled {
			idle := slices.Contains(idleAt[p.name], plugin.Name)
			if m := made[plugin.Name]; m != nil && !idle && !p.engine.Serves(m) {
				t.add(field.Invalid(path.Child(p.name, "enabled").Index(j).Child("name"), plugin.Name, notServed))
			}
		}
	}
}

// countSingles reports where too few or too many plugins serve a point.
func (t *translation) countSingles(path *field.Path, out *extpoints.Profile, made map[string]extpoints.Plugin) {
	serving := func(point extpoints.Point) (names []string) {
		for _, e := range out.At(point) {
			if point.Serves(made[e.Name]) {
				names = append(names, e.Name)
			}
		}
		return names
	}
	switch sorters := serving("QueueSort"); {
	case len(sorters) != 1:
		t.add(field.Invalid(path.Child("queueSort"), sorters, "exactly one plugin must sort the queue"))
	case t.trial.sorter != "" && sorters[0] != t.trial.sorter:
		t.add(field.Invalid(path.Child("queueSort"), sorters[0], "must be "+t.trial.sorter+", as in the first profile: there is one queue"))
	case t.trial.sorter == "":
		t.trial.sorter = sorters[0]
	}
	if len(serving("Bind")) == 0 {
		t.add(field.Required(path.Child("bind"), "at least one plugin must bind pods"))
	}
	if list := serving("PlacementGenerate"); len(list) > 1 {
		t.add(field.Invalid(path.Child("placementGenerate"), list, "at most one plugin is allowed"))
	}
}

// trialHandle is what a plugin gets that is only made to see what it says. It is not to be
// asked for more than these.
type trialHandle struct {
	extpoints.Handle
	profile string
}

func (h trialHandle) Logger() hclog.Logger   { return hclog.NewNullLogger() }
func (h trialHandle) Profile() string        { return h.profile }
func (trialHandle) Compat() extpoints.Compat { return extpoints.Improved }
