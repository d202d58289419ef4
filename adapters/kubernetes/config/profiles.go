package config

import (
	"maps"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
	"github.com/berth-project/berth/plugins/holds"
)

// Profiles translates the profiles for the engine, in their order, of a
// configuration that is valid. The evaluator is for the selectors of devices; see
// package cel.
//
// Where nodes are set aside every profile has the plugin NodeHolds, behind the others.
//
// The registry says how plugins are made. Their arguments are of Berth's own types
// for the plugins of kube-scheduler, and a [*runtime.Unknown] for others; see the
// comment of the package.
//
// The error lists everything in which Berth cannot follow the file, and what
// kube-scheduler finds when it makes its plugins, by field. That plugins serve the
// points at which they are enabled, and are as many as a point needs, is for the
// engine to say when it is made.
func (c *Config) Profiles(devices allocator.Evaluator, registry Registry) ([]extpoints.Profile, error) {
	return c.translate(translation{devices: devices, registry: registry})
}

// translate is Profiles as the translation has it.
func (c *Config) translate(as translation) ([]extpoints.Profile, error) {
	var p problems
	effective := c.withExtenders(&p)
	as.problems, as.gates = &p, c.gates
	list := make([]extpoints.Profile, len(effective.Profiles))
	for i := range effective.Profiles {
		list[i] = as.profile(field.NewPath("profiles").Index(i), &effective.Profiles[i])
		if c.Queueing != nil && len(c.Queueing.Holds) > 0 {
			extpoints.Use(&list[i], holds.New, extpoints.NoArgs{})
		}
	}
	p.compareOrders(field.NewPath("profiles"), effective.Profiles)
	if err := p.err(); err != nil {
		return nil, err
	}
	return list, nil
}

// compareOrders reports plugins that sort the queue with other arguments than in the
// first profile. That they are the same plugin is for the engine to see.
//
// Rules: pkg/scheduler/profile/profile.go cfgValidator, 1.37.1.
func (p *problems) compareOrders(path *field.Path, profiles []configv1.KubeSchedulerProfile) {
	for i := range profiles {
		name := sorter(&profiles[i])
		first, _ := argsOf(&profiles[0], name)
		if own, _ := argsOf(&profiles[i], name); !apiequality.Semantic.DeepEqual(first, own) {
			p.add(field.Invalid(path.Index(i).Child("pluginConfig"), name, "the arguments of the plugin that sorts the queue must be the same for all profiles"))
		}
	}
}

// sorter is the plugin that sorts the queue, as far as it is enabled at its point or
// is kube-scheduler's own; empty where it is another that MultiPoint brings.
func sorter(p *configv1.KubeSchedulerProfile) string {
	if own := names(p.Plugins.QueueSort); len(own) > 0 {
		return own[0]
	}
	if slices.Contains(names(p.Plugins.MultiPoint), plugins.PrioritySort) {
		return plugins.PrioritySort
	}
	return ""
}

// withExtenders is a copy of the effective configuration with what comes of
// extenders: their timeouts, and the resources of which they alone take care, which
// take the place of those that NodeResourcesFit is told to ignore.
//
// Rules: pkg/scheduler/scheduler.go buildExtenders and extender.go
// NewHTTPExtender, 1.37.1.
func (c *Config) withExtenders(p *problems) *configv1.KubeSchedulerConfiguration {
	effective := c.Effective.DeepCopy()
	var ignored []string
	for i := range effective.Extenders {
		x := &effective.Extenders[i]
		orElseZero(&x.HTTPTimeout.Duration, defaultExtenderTimeout)
		for _, r := range x.ManagedResources {
			if r.IgnoredByScheduler {
				ignored = append(ignored, r.Name)
			}
		}
	}
	if len(ignored) == 0 {
		return effective
	}
	for i := range effective.Profiles {
		args, _ := argsOf(&effective.Profiles[i], nodeResourcesFit)
		if fit, ok := args.Object.(*configv1.NodeResourcesFitArgs); ok {
			fit.IgnoredResources = ignored
		} else {
			p.add(field.Required(field.NewPath("profiles").Index(i).Child("pluginConfig"),
				"can't find NodeResourcesFitArgs in plugin config, which extenders with resources ignoredByScheduler need"))
		}
	}
	return effective
}

// translation is that of one profile.
type translation struct {
	*problems
	gates    Gates
	devices  allocator.Evaluator
	registry Registry
	trial    *trial // nil: no plugin is made
}

func (t *translation) profile(path *field.Path, in *configv1.KubeSchedulerProfile) extpoints.Profile {
	t.refusePlugins(path.Child("plugins"), in.Plugins)
	out := extpoints.Profile{
		Name:                     ptr.Deref(in.SchedulerName, ""),
		PercentageOfNodesToScore: in.PercentageOfNodesToScore,
		Plugins:                  entries(t.effective(in.Plugins)),
	}
	needed := enabled(in.Plugins)
	args, refused := map[string]any{}, map[string]bool{}
	for i := range in.PluginConfig {
		entry := &in.PluginConfig[i]
		if needed[entry.Name] && t.gates.runs(entry.Name) {
			args[entry.Name], refused[entry.Name] = t.args(path.Child("pluginConfig").Index(i).Child("args"), entry)
		}
	}
	for i := range out.Plugins {
		if e := &out.Plugins[i]; len(e.Points) == 0 {
			e.New, e.Args = t.registry[e.Name], args[e.Name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		if args, _ := argsOf(in, name); args.Object == nil && t.gates.runs(name) && scheme.Recognizes(configv1.SchemeGroupVersion.WithKind(name+"Args")) {
			t.add(field.Required(path.Child("pluginConfig"), "arguments for plugin "+name+", which has no default ones where it is enabled at podGroupPostFilter alone"))
		}
	}
	if t.trial != nil {
		t.try(path, in, &out, refused)
	}
	return out
}

const notServed = "the plugin does not serve this point"

// refusePlugins reports plugins and weights that Berth does not have, plugins at
// points that kube-scheduler's do not serve, and plugins that a set has twice.
// (kube-scheduler lets MultiPoint have one twice that is overridden wherever it
// serves.)
func (t *translation) refusePlugins(path *field.Path, sets *configv1.Plugins) {
	for i := range points {
		at, seen := path.Child(points[i].name, "enabled"), map[string]bool{}
		for j, plugin := range points[i].in(sets).Enabled {
			name, weight := plugin.Name, ptr.Deref(plugin.Weight, 0)
			if seen[name] {
				t.add(field.Duplicate(at.Index(j).Child("name"), name))
			}
			seen[name] = true
			if name == deferredPodScheduling && t.gates.runs(name) {
				t.add(field.Invalid(at.Index(j).Child("name"), name,
					"Berth does not have this plugin; turn off the feature gate InPlacePodVerticalScalingSchedulerPreemption"))
			}
			if t.registry[name] == nil && name != deferredPodScheduling && t.gates.runs(name) {
				t.add(field.Invalid(at.Index(j).Child("name"), name, "the plugin does not exist"))
			}
			if slices.Contains(addedAt[points[i].name], name) {
				t.add(field.Invalid(at.Index(j).Child("name"), name, notServed))
			}
			if points[i].weighs() && weight < 0 {
				t.add(field.Invalid(at.Index(j).Child("weight"), weight, "a weight below 0 is not supported"))
			}
		}
	}
}

// effective are the sets without plugins that do nothing.
func (t *translation) effective(in *configv1.Plugins) *configv1.Plugins {
	out := in.DeepCopy()
	for i := range points {
		set := points[i].in(out)
		set.Enabled = slices.DeleteFunc(set.Enabled, func(plugin configv1.Plugin) bool {
			return !t.gates.runs(plugin.Name) || slices.Contains(idleAt[points[i].name], plugin.Name)
		})
	}
	return out
}

// unknown are the arguments of a plugin that is not kube-scheduler's, as the
// factories of such plugins get them there.
func unknown(args *runtime.RawExtension) any {
	if len(args.Raw) == 0 {
		return nil
	}
	return &runtime.Unknown{Raw: args.Raw, ContentType: runtime.ContentTypeJSON}
}
