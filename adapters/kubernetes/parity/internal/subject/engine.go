package subject

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/answer"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/queuesort"
)

// probeProfile is the name of a profile that places nothing and shows the view.
const probeProfile = "parity-probe"

// Config says what an [Engine] is made of.
type Config struct {
	// Args are the plugins' arguments, by plugin name.
	Args map[string]any
	// PercentageOfNodesToScore is the profile's; nil: adaptive.
	PercentageOfNodesToScore *int32
	// Now is the time of the first change.
	Now time.Time
	// Tie scores placements of groups that are otherwise equally good, by name:
	// the highest is taken. Nil: the engine's own choice.
	Tie func(placement string) int64

	// Without are names of plugins to leave out.
	Without []string

	// Change and Deaf make mistakes on purpose, to see that they are noticed:
	// Change changes the engine's configuration, and what Deaf reports true for
	// the engine is not told.
	Change func(*engine.Config)
	Deaf   func(engine.Change) bool

	// Beside is told of the reference before the engine is made. It knows of no object
	// yet.
	Beside func(*reference.Scheduler)
}

// Engine is Berth's engine. It may be used by one goroutine at a time.
type Engine struct {
	*engine.Raw
	// Tape, where not nil, writes down what the engine is told.
	Tape *Tape

	now      time.Time
	deaf     func(engine.Change) bool
	probe    *probe
	decision answer.Decision
	members  map[string]*answer.Decision // in the cycle of a group
	before   *engine.View                // of the cycle
	failures []error
}

// New makes an engine that knows of nothing.
func New(cfg Config) (*Engine, error) {
	e := &Engine{now: cfg.Now, deaf: cfg.Deaf, probe: &probe{}}
	profile := plugins.DefaultProfile()
	profile.PercentageOfNodesToScore = cfg.PercentageOfNodesToScore
	profile.Remove(cfg.Without...)
	for i := range profile.Plugins {
		profile.Plugins[i].Args = cfg.Args[profile.Plugins[i].Name]
	}
	if cfg.Tie != nil {
		BreakTies(&profile, cfg.Tie)
	}
	config := engine.Config{
		Profiles:     []extpoints.Profile{profile, newProbeProfile(e.probe)},
		Orchestrator: &orchestrator{e: e},
		// As the reference, so that the same workloads are tried at the same time.
		Compat:   extpoints.KubeScheduler137,
		Listener: e.listener(),
	}
	if cfg.Change != nil {
		cfg.Change(&config)
	}
	var err error
	e.Raw, err = engine.NewRaw(config)
	return e, err
}

// SetTime moves the clock, which must not go backwards.
func (e *Engine) SetTime(now time.Time) { e.now = now }

// Apply makes the changes. That they are refused is a mistake of the caller.
func (e *Engine) Apply(changes ...engine.Change) {
	if e.deaf != nil {
		changes = slices.DeleteFunc(changes, e.deaf)
	}
	if err := e.Raw.Apply(e.now, changes...); err != nil {
		panic(fmt.Sprintf("subject: %v", err))
	}
	if e.Tape != nil {
		e.Tape.Apply(e.now, changes)
	}
}

// Tick does what is due by now.
func (e *Engine) Tick() {
	e.Raw.Tick(e.now)
	if e.Tape != nil {
		e.Tape.Tick(e.now)
	}
}

// ScheduleOne runs one scheduling cycle to its end, binding and evictions
// included, for the workload that the queue gives out; false where it gives out
// none.
func (e *Engine) ScheduleOne() (answer.Decision, bool) {
	if e.Tape != nil {
		e.Tape.Begin(e.now)
	}
	e.decision, e.members, e.before = answer.Decision{}, nil, e.View()
	if !e.Raw.Schedule(e.now) {
		return answer.Decision{}, false
	}
	for t := e.NextTask(); t != nil; t = e.NextTask() {
		t.Run(context.Background())
		e.Finish(e.now, t)
	}
	return e.outcome(), true
}

// Failures lists what has failed since it was last called.
func (e *Engine) Failures() []error {
	failures := e.failures
	e.failures = nil
	return failures
}

// Cluster is what the next cycle will see. As in a cycle of the reference, what
// is seen now is what later changes are counted from, so both sides must be
// looked at in the same moments. A waiting workload of the highest priority would
// be in the way.
func (e *Engine) Cluster() extpoints.ClusterView {
	e.probe.seen = extpointstest.NewView() // without nodes no plugin is asked
	const id = "parity-probe"
	tape := e.Tape
	e.Tape = nil
	defer func() { e.Tape = tape }()
	e.Apply(engine.Submit(&model.Workload{ID: id, Profile: probeProfile, Priority: math.MaxInt32}))
	decision, members := e.decision, e.members
	if !e.Raw.Schedule(e.now) || e.decision.Workload != id {
		panic("subject: another workload went before the probe")
	}
	e.decision, e.members = decision, members
	e.Apply(engine.Remove(id))
	return e.probe.seen
}

// probe is a plugin that only looks.
type probe struct{ seen extpoints.ClusterView }

func newProbeProfile(p *probe) extpoints.Profile {
	profile := extpoints.Profile{Name: probeProfile}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, func(extpoints.NoArgs, extpoints.Handle) (*probe, error) { return p, nil }, extpoints.NoArgs{})
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
	return profile
}

// Name implements [extpoints.Plugin].
func (p *probe) Name() string { return probeProfile }

// PreFilter implements [extpoints.PreFilterPlugin].
func (p *probe) PreFilter(s *extpoints.CycleState, _ *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	p.seen = s.View()
	return nil, extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "only looking")
}
