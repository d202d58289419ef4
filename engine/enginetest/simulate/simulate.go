package simulate

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Options says what a simulated history is like. What is left at its zero
// value is chosen by the seed.
type Options struct {
	// Steps is how many inputs there are before the end of the history, Nodes
	// how many nodes at its beginning.
	Steps, Nodes int
	// Plugins says whether there is a plugin that misbehaves.
	Plugins Mood
	// Without are the kinds of inputs that are left out; see [Inputs].
	Without []string
	// Source is where the choices come from in place of the seed.
	Source rand.Source
	// Workers and TieBreak are the engine's.
	Workers  int
	TieBreak engine.TieBreak
	// Record keeps the events and the recorder's logs.
	Record bool
	// NoShrinking reports a failure as it is.
	NoShrinking bool
	// Configure may change the configuration of every engine of the history.
	// Calm is called when nothing is to fail any more: what it added must then
	// be sound.
	Configure func(*engine.Config)
	Calm      func()
}

// Mood says how the plugins of a history behave.
type Mood uint8

// The moods. In histories without a faulty plugin it is also checked that
// every workload is woken by what makes it fit.
const (
	MoodBySeed Mood = iota
	MoodGood
	MoodFaulty
)

// Result is what came of a history.
type Result struct {
	Seed  uint64
	Steps int
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
}

// Failure is a broken invariant.
type Failure struct {
	Step    int
	Message string
	Last    []string // the last steps
}

// Config is the configuration of the history's engines, with fresh plugins, for
// a replay. Events go to the list.
func (r *Result) Config(events *[]string) engine.Config {
	cfg := simConfig(r.plugins.fresh(), r.options)
	cfg.Orchestrator = deafWorld{}
	cfg.Listener = EventLines(events)
	if r.options.Configure != nil {
		r.options.Configure(&cfg)
	}
	return cfg
}

// Run runs one random history on an [engine.Raw] with a clock of its own
// and an outside world that fails in every way it can, and checks after every
// step that nothing is lost, doubled, leaked or forgotten; checkAll and
// endOfHistory have the list. The same seed and options give the same history.
// A broken invariant fails the test, with the shortest way to it that was found.
func Run(t testing.TB, seed uint64, o Options) *Result {
	t.Helper()
	r := simulate(seed, o)
	if r.Failure == nil {
		return r
	}
	if !o.NoShrinking && o.Source == nil {
		r, o = shrink(r, o)
	}
	f := r.Failure
	t.Fatalf("seed %d, step %d of %d, without %v: %s\nThe last steps:\n%s",
		seed, f.Step, r.Steps, o.Without, f.Message, strings.Join(f.Last, "\n"))
	return nil
}

// shrink looks for a shorter history with fewer kinds of inputs that fails too.
func shrink(r *Result, o Options) (*Result, Options) {
	for _, kind := range Inputs() {
		less := o
		less.Without = append(slices.Clone(o.Without), kind)
		less.Steps = r.Steps
		if again := simulate(r.Seed, less); again.Failure != nil {
			r, o = again, less
		}
	}
	for steps := r.Failure.Step; steps > 0; steps = steps * 3 / 4 {
		less := o
		less.Steps = steps
		if again := simulate(r.Seed, less); again.Failure != nil {
			r, o = again, less
		}
	}
	return r, o
}

// simEpoch is when histories begin.
var simEpoch = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// sim is a history under way.
type sim struct {
	o   Options
	rng *rand.Rand
	now time.Time

	raw     *engine.Raw
	inputs  []input // all kinds of them
	plugins simPlugins
	handle  *handleHolder
	world   simWorld
	tasks   []*simTask // handed out and not given back
	current *simTask   // running
	nested  bool       // in a task that is running

	cur, prev *observed
	forced    map[string]bool
	disputed  map[nodePort]bool
	gone      []string          // workloads that were removed since the engine was made
	evicting  string            // the workload of the last Evicting event
	evictions map[string]string // from which node; asked of the engine, and not of the orchestrator yet
	roomFor   map[string]string // for whom each of them was to make room
	plans     map[string]string // who is to make room, and for whom
	missed    map[string]bool   // waited on permit when something happened that Hold asked for
	made      int               // workloads ever made

	// Which of the kinds of things there are in this history.
	groups, volumes, devices bool
	told                     bool              // the last input has reported objects
	seen                     *sight            // of groups, since the last attempt
	attempting               bool              // an attempt is being made
	asOne                    map[string]string // groups that leave as one in this step, and for whom

	step   int
	lines  []string
	result *Result
	log    bytes.Buffer
	events []string
}

// simulate runs the history.
func simulate(seed uint64, o Options) (r *Result) {
	s := newSim(seed, o)
	defer func() {
		r = s.result
		if cause := recover(); cause != nil {
			s.fail("panic: %v\n%s", cause, debug.Stack())
		}
		s.result.Steps = s.step
	}()
	s.start()
	s.observe()
	for s.step < s.o.Steps && s.result.Failure == nil {
		s.oneStep()
	}
	s.endOfHistory()
	return s.result
}

// newSim chooses what the options leave open.
func newSim(seed uint64, o Options) *sim {
	src := o.Source
	if src == nil {
		src = rand.NewPCG(seed, 1)
	}
	s := &sim{
		o: o, rng: rand.New(src), now: simEpoch, inputs: inputs(),
		forced: map[string]bool{}, disputed: map[nodePort]bool{},
		result: &Result{Seed: seed, options: o, Reached: map[string]int{}},
	}
	s.world = newSimWorld(s)
	// All of these are drawn in any case, so that an option that is set does
	// not change the rest of the history.
	steps, nodes, faulty, share := 100+s.rng.IntN(401), 1+s.rng.IntN(8), s.rng.IntN(2) == 0, 5+s.rng.Uint64N(90)
	if s.o.Steps == 0 {
		s.o.Steps = steps
	}
	if s.o.Nodes == 0 {
		s.o.Nodes = nodes
	}
	if faulty = s.o.Plugins == MoodFaulty || s.o.Plugins == MoodBySeed && faulty; !faulty {
		share = 0
	}
	s.groups, s.volumes, s.devices = s.kind("group", 70), s.kind("storage", 50), s.kind("devices", 50)
	s.plugins = newSimPlugins(seed, share)
	s.result.plugins = s.plugins
	return s
}

// kind draws whether the history has the kind of things that inputs of the name
// are about.
func (s *sim) kind(input string, share int) bool {
	return s.chance(share) && !slices.Contains(s.o.Without, input)
}

// start makes the engine and tells it what there is.
func (s *sim) start() {
	s.plugins = s.plugins.fresh()
	cfg := simConfig(s.plugins, s.o)
	cfg.Orchestrator = &s.world
	s.handle = s.plugins.handle
	s.events, s.log = nil, bytes.Buffer{}
	tell := engine.Listener{Evicting: func(e engine.EvictingEvent) {
		s.evicting = e.Workload.ID
		s.evictions[e.Workload.ID], s.roomFor[e.Workload.ID] = e.Node, cmp.Or(e.By, e.ByGroup)
		s.stop(e.Workload.ID)
		s.displaced(e)
	}, Reserved: s.reserved, Decided: s.decided}
	if s.o.Record {
		cfg.Recorder = engine.NewRecorder(&s.log)
		tell = engine.Tee(tell, EventLines(&s.events))
	}
	cfg.Listener = tell
	if s.o.Configure != nil {
		s.o.Configure(&cfg)
	}
	raw, err := engine.NewRaw(cfg)
	if err != nil {
		panic(err)
	}
	s.raw, s.tasks, s.gone = raw, nil, nil
	s.disputed, s.evictions, s.roomFor = map[nodePort]bool{}, map[string]string{}, map[string]string{}
	s.asOne, s.told, s.seen = map[string]string{}, false, nil
	s.missed, s.plans = map[string]bool{}, map[string]string{}
	s.cur, s.prev = &observed{}, &observed{}
	s.tellAll()
}

// keepLife keeps what the engine was told and did until now.
func (s *sim) keepLife() {
	if s.o.Record {
		s.result.Lives = append(s.result.Lives, Life{Log: bytes.Clone(s.log.Bytes()), Events: slices.Clone(s.events)})
	}
}

// oneStep makes one input and checks everything.
func (s *sim) oneStep() {
	s.step++
	s.now = s.now.Add(time.Duration(s.rng.IntN(400)) * time.Millisecond)
	number := s.step
	var what string
	for range 8 {
		in := s.chooseInput()
		if what = in.do(s); what != "" {
			break
		}
	}
	if what == "" {
		what = inputSchedule(s)
	}
	s.note(number, what)
	s.observe()
}

// note writes a step down.
func (s *sim) note(number int, what string) {
	mark := ""
	if s.nested {
		mark = "  (while it runs) "
	}
	s.lines = append(s.lines, fmt.Sprintf("%4d %s %s%s", number, s.now.Sub(simEpoch), mark, what))
	if len(s.lines) > 60 {
		s.lines = append(s.lines[:0], s.lines[30:]...)
	}
}

// fail notes the first broken invariant. It does not panic: it may be called
// from within a plugin, whose panics the engine keeps to itself.
func (s *sim) fail(format string, args ...any) {
	if s.result.Failure == nil {
		last := s.lines[max(0, len(s.lines)-30):]
		s.result.Failure = &Failure{Step: s.step, Message: fmt.Sprintf(format, args...), Last: slices.Clone(last)}
	}
}

// reach counts that the history has come by something.
func (s *sim) reach(what string) { s.result.Reached[what]++ }

// chance is true in n of a hundred cases.
func (s *sim) chance(n int) bool { return s.rng.IntN(100) < n }

// pickOf returns one of the choices, the zero value where there are none.
func pickOf[T any](s *sim, choices []T) T {
	if len(choices) == 0 {
		var none T
		return none
	}
	return choices[s.rng.IntN(len(choices))]
}

// row is the workload as the engine has it.
func (s *sim) row(id string) (model.WorkloadRecord, bool) { return s.raw.View().Workload(id) }

// rowsWhere lists the workloads for which the condition holds.
func (s *sim) rowsWhere(holds func(*model.WorkloadRecord) bool) []string {
	var ids []string
	for row := range s.raw.View().Workloads() {
		if holds(&row) {
			ids = append(ids, row.ID)
		}
	}
	return ids
}

// apply gives the engine valid changes.
func (s *sim) apply(changes ...engine.Change) bool {
	if err := s.raw.Apply(s.now, changes...); err != nil {
		s.fail("valid changes are refused: %v", err)
		return false
	}
	return true
}

// handleHolder keeps what the engine hands to the first plugin that asks.
type handleHolder struct{ extpoints.Handle }

func (s *sim) nextWorkload() string { s.made++; return faults.WorkloadID(s.made - 1) }
