package transcript

import (
	"slices"
	"strings"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// configure does the verbs that say what the engine is made of. They come
// before all others.
func (e *env) configure(l line) bool {
	switch l.verb {
	case "config":
		// config [percentage=N] [tie=heap|lowest|random] [seed=N] [timeout=D]
		// [decisions=N] [compat=improved|kube-scheduler] [order=queues]: fields of engine.Config; timeout is
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
		e.cfg.Extenders = append(e.cfg.Extenders, e.extender(l).Extender)
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
	case "compat":
		compats := map[string]extpoints.Compat{"improved": extpoints.Improved, "kube-scheduler": extpoints.KubeScheduler137}
		compat, ok := compats[value]
		if !ok {
			e.fail(l, "unknown compat")
		}
		e.cfg.Compat = compat
	case "order":
		if value != "queues" {
			e.fail(l, "unknown order")
		}
		e.cfg.Order = engine.OrderByQueues
	case "decisions":
		e.cfg.RememberDecisions = int(number(value))
	default:
		e.fail(l, "unknown field "+name)
	}
}

func (e *env) profile(l line) extpoints.Profile {
	p := extpoints.Profile{}
	words := l.words[1:]
	binds := true // the plugin binder does, after all others
	if len(words) > 0 && words[0] == "default" {
		p, words, binds = plugins.DefaultProfile(), words[1:], false
	} else {
		p.Plugins = []extpoints.Entry{{Name: sorter, New: e.factory(sorter), Points: []extpoints.Point{"QueueSort"}}}
	}
	p.Name = l.words[0]
	if v := l.args["percentage"]; v != "" {
		n := int32(number(v))
		p.PercentageOfNodesToScore = &n
	}
	for _, word := range words {
		spec, at, ok := strings.Cut(word, ":")
		name, weight, weighted := strings.Cut(spec, "*")
		entry := extpoints.Entry{Name: name}
		if !slices.ContainsFunc(p.Plugins, func(other extpoints.Entry) bool { return other.Name == name }) {
			entry.New = e.factory(name)
		}
		if weighted {
			entry.Weight = int32(number(weight))
		}
		if !ok {
			e.fail(l, "plugin without points: "+word)
		}
		for point := range strings.SplitSeq(at, "+") {
			if point == "onlybind" { // nobody binds after it
				binds, point = false, "bind"
			}
			entry.Points = append(entry.Points, e.point(l, point))
		}
		p.Plugins = append(p.Plugins, entry)
	}
	if binds {
		p.Plugins = append(p.Plugins, extpoints.Entry{Name: binder, New: e.factory(binder), Points: []extpoints.Point{"Bind"}})
	}
	return p
}

// point returns the point with the name that scripts use.
func (e *env) point(l line, name string) extpoints.Point {
	for _, point := range extpoints.Points() {
		if strings.EqualFold(name, string(point)) {
			return point
		}
	}
	e.fail(l, "unknown point "+name)
	return ""
}

// config completes the configuration.
func (e *env) config() engine.Config {
	if len(e.cfg.Profiles) == 0 {
		e.cfg.Profiles = []extpoints.Profile{e.profile(parseLine("profile main"))}
	}
	e.cfg.Orchestrator = orchestrator{e.script}
	e.cfg.Listener = e.listener()
	e.cfg.Recorder = engine.NewRecorder(&e.tape)
	e.cfg.FastPath = engine.FastPathVerify
	return e.cfg
}

// factory makes the plugin that comes with the engine, or a scripted one where there
// is none of the name.
func (e *env) factory(name string) extpoints.Factory {
	if factory, ok := plugins.Default()[name]; ok {
		return factory
	}
	return func(_ any, h extpoints.Handle) (extpoints.Plugin, error) {
		e.handles[name] = h
		return &plugin{name: name, script: e.script, handle: h, events: slices.Clone(e.registered[name])}, nil
	}
}
