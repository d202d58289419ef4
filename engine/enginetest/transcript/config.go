package transcript

import (
	"maps"
	"slices"
	"strings"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// The plugins that a profile gets where it has none of its own: the one orders
// by priority and time, the other asks the orchestrator and says nothing.
const (
	sorter = "Sort"
	binder = "Bind"
)

// configure does the verbs that say what the engine is made of. They come
// before all others.
func (e *env) configure(l line) bool {
	switch l.verb {
	case "config":
		// config [percentage=N] [tie=heap|lowest|random] [seed=N] [timeout=D]
		// [decisions=N]: fields of engine.Config; timeout is
		// Queue.MaxInUnschedulable.
		for name, value := range l.args {
			e.setConfig(l, name, value)
		}
	case "profile":
		// profile NAME [default] [percentage=N] [PLUGIN[*WEIGHT]:POINT+POINT...]
		// ...: a profile with scripted plugins at these points, in this order;
		// with default it has the default profile's plugins too. A plugin at
		// onlybind is the only one that binds, in place of the one that asks
		// the orchestrator. The first profile is for workloads that name none.
		e.cfg.Profiles = append(e.cfg.Profiles, e.profile(l))
	case "extender":
		// extender NAME VERB[+VERB...] [weight=N] [for=PATTERN] [ignorable]: an
		// extender that serves the verbs filter, prioritize, preempt and bind,
		// and is interested in the workloads of the pattern. What it answers is
		// said with the verb plugin.
		e.cfg.Extenders = append(e.cfg.Extenders, e.extender(l))
	case "events":
		// events PLUGIN KIND/ACTION[+ACTION]...|none: what the plugin registers
		// for, in place of everything.
		list := []extpoints.EventHint{}
		for _, word := range l.words[1:] {
			if word != "none" {
				list = append(list, extpoints.EventHint{Event: parseEvent(word)})
			}
		}
		e.registered[l.words[0]] = list
	default:
		return false
	}
	if e.made {
		e.fail(l, "the engine is made already")
	}
	e.configured = append(e.configured, l)
	return true
}

func (e *env) setConfig(l line, name, value string) {
	switch name {
	case "percentage":
		e.cfg.PercentageOfNodesToScore = int32(number(value))
	case "tie":
		ties := map[string]engine.TieBreak{"heap": engine.TieBreakHeap, "lowest": engine.TieBreakLowestIndex, "random": engine.TieBreakRandom}
		tie, ok := ties[value]
		if !ok {
			e.fail(l, "unknown tie-breaker")
		}
		e.cfg.TieBreak = tie
	case "seed":
		e.cfg.Seed = uint64(number(value))
	case "timeout":
		e.cfg.Queue.MaxInUnschedulable = duration(value)
	case "decisions":
		e.cfg.Decisions = int(number(value))
	default:
		e.fail(l, "unknown field "+name)
	}
}

func (e *env) profile(l line) extpoints.Profile {
	p := extpoints.Profile{}
	words := l.words[1:]
	if len(words) > 0 && words[0] == "default" {
		p, words = plugins.DefaultProfile(), words[1:]
	} else {
		p.Plugins.QueueSort.Enabled = []extpoints.PluginRef{{Name: sorter}}
		p.Plugins.Bind.Enabled = []extpoints.PluginRef{{Name: binder}}
	}
	p.Name = l.words[0]
	if v := l.args["percentage"]; v != "" {
		n := int32(number(v))
		p.PercentageOfNodesToScore = &n
	}
	for _, word := range words {
		spec, at, ok := strings.Cut(word, ":")
		name, weight, weighted := strings.Cut(spec, "*")
		ref := extpoints.PluginRef{Name: name}
		if weighted {
			ref.Weight = int32(number(weight))
		}
		if !ok {
			e.fail(l, "plugin without points: "+word)
		}
		for point := range strings.SplitSeq(at, "+") {
			if point == "onlybind" { // nobody binds after it
				p.Plugins.Bind.Enabled, point = nil, "bind"
			}
			set := pointSet(&p.Plugins, point)
			if set == nil {
				e.fail(l, "unknown point "+point)
			}
			// In front of the one that always binds.
			if i := len(set.Enabled) - 1; point == "bind" && i >= 0 && set.Enabled[i].Name == binder {
				set.Enabled = slices.Insert(set.Enabled, i, ref)
			} else {
				set.Enabled = append(set.Enabled, ref)
			}
		}
	}
	return p
}

// pointSet returns the set of a point by the name that scripts use.
func pointSet(p *extpoints.Plugins, point string) *extpoints.PluginSet {
	return map[string]*extpoints.PluginSet{
		"preenqueue": &p.PreEnqueue, "queuesort": &p.QueueSort, "prefilter": &p.PreFilter, "filter": &p.Filter,
		"postfilter": &p.PostFilter, "prescore": &p.PreScore, "score": &p.Score, "reserve": &p.Reserve,
		"permit": &p.Permit, "prebind": &p.PreBind, "bind": &p.Bind, "postbind": &p.PostBind,
	}[point]
}

// config completes the configuration: scripted plugins for all names that the
// default registry does not have.
func (e *env) config() engine.Config {
	if len(e.cfg.Profiles) == 0 {
		e.cfg.Profiles = []extpoints.Profile{e.profile(parseLine("profile main"))}
	}
	e.cfg.Registry = plugins.Default()
	for i := range e.cfg.Profiles {
		p := &e.cfg.Profiles[i].Plugins
		sets := []*extpoints.PluginSet{&p.MultiPoint}
		for _, point := range slices.Sorted(maps.Keys(allPoints(p))) {
			sets = append(sets, pointSet(p, point))
		}
		for _, set := range sets {
			for _, ref := range set.Enabled {
				if e.cfg.Registry[ref.Name] == nil {
					e.cfg.Registry[ref.Name] = e.factory(ref.Name)
				}
			}
		}
	}
	e.cfg.Orchestrator = orchestrator{e.script}
	e.cfg.Listener = e.listener()
	e.cfg.Recorder = engine.NewRecorder(&e.tape)
	return e.cfg
}

func allPoints(p *extpoints.Plugins) map[string]*extpoints.PluginSet {
	all := map[string]*extpoints.PluginSet{}
	for _, point := range append([]string{"queuesort"}, points...) {
		if set := pointSet(p, point); set != nil {
			all[point] = set
		}
	}
	return all
}

func (e *env) factory(name string) extpoints.Factory {
	return func(_ any, h extpoints.Handle) (extpoints.Plugin, error) {
		e.handles[name] = h
		return &plugin{name: name, script: e.script, handle: h, events: slices.Clone(e.registered[name])}, nil
	}
}
