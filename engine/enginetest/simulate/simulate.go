package simulate

import (
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

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
		s.hostileStep()
	}
	s.endOfHistory()
	s.replayLives()
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
	if o.Queues {
		s.inputs = append(s.inputs, queueInput)
	}
	if o.Broken {
		s.inputs = append(s.inputs, breakInput)
	}
	if o.Crowded {
		s.inputs = append(s.inputs, budgetInput)
	}
	if o.Measured {
		s.inputs = append(s.inputs, measureInput)
	}
	if s.networked = o.networked(seed); s.networked {
		s.inputs = append(s.inputs, networkInput)
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
	if o.Replay == ReplayInParts {
		s.o.Rotate = 1 + rand.New(rand.NewPCG(seed, 2)).IntN(s.o.Steps)
	}
	if faulty = s.o.Plugins == MoodFaulty || o.Hostile || s.o.Plugins == MoodBySeed && faulty; !faulty {
		share = 0
	}
	s.groups, s.volumes, s.devices = s.kind("group", 70), s.kind("storage", 50), s.kind("devices", 50)
	if o.Scarce {
		s.volumes, s.devices = true, true
	}
	if o.Crowded {
		s.groups, s.volumes, s.devices = true, false, false
	}
	s.plugins = newSimPlugins(seed, share)
	s.hostility = newHostility(s, seed)
	s.result.plugins = s.plugins
	return s
}
