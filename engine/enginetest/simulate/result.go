package simulate

import (
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/faults"
)

// Result is what came of a history.
type Result struct {
	Seed  uint64 // with the same Options it gives the same history
	Steps int    // how many there were, up to the end or the failure
	// Lives are the engines of the history, one after the other; only where
	// Options.Record is set.
	Lives []Life
	// Failure is the first broken invariant, nil for none.
	Failure *Failure
	// Reached counts what histories are to come by, by name.
	Reached map[string]int

	plugins simPlugins
	options Options
}

// Life is what an engine was told and what it did about it, up to the end of
// the history or the moment at which the faulty plugin was switched off.
type Life struct {
	Log    []byte   // for engine.Replay
	Events []string // one line each

	// Cut: the engine broke, or its recorder did, so that events at the end have no line in the log.
	Cut bool

	plan *faults.Plan // of the faulty plugin, as it was at the beginning
}

// Failure is a broken invariant.
type Failure struct {
	Step    int      // how many steps there were when it was found
	Message string   // for people; after a panic with the stack
	Last    []string // the last steps
}

// Config is the configuration of the history's engines, with fresh plugins, for
// a replay. Events go to the list.
func (r *Result) Config(events *[]string) engine.Config {
	return r.config(r.plugins.fresh().plan, events)
}

// config is Config with a plan of the faulty plugin that has gone on.
func (r *Result) config(plan *faults.Plan, events *[]string) engine.Config {
	p := r.plugins.fresh()
	p.plan = plan.Clone()
	p.plan.Hook = nil
	cfg := simConfig(p, r.options)
	cfg.Orchestrator = deafWorld{}
	cfg.Listener = EventLines(events)
	if r.options.Configure != nil {
		r.options.Configure(&cfg)
	}
	return cfg
}
