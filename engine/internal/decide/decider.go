// Package decide makes decisions: an [Attempt] filters, scores, selects, reserves and asks
// for permission, for one workload or for the members of a tree of groups. The engine,
// branches, explanations and the trials of preemption all run it. It reads a view,
// starts no goroutine besides the workers that share the nodes among them, and looks at
// no clock.
package decide

import (
	"context"
	"time"

	"github.com/berth-project/berth/engine/internal/decide/fast"
	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/observe"
	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/extpoints"
)

// Options are how decisions are made. Package engine has their defaults and says
// what they mean.
type Options struct {
	Workers                  int
	Seed                     uint64
	TieBreak                 TieBreak
	PercentageOfNodesToScore int32
	FastPath                 FastPath
}

// Decider makes decisions over a record: it has the profiles, and what one decision
// hands on to the next. An engine has one and every branch has one of its own; they
// share the profiles, which do not change. It is used by one goroutine at a time.
type Decider struct {
	Options
	Profiles *Profiles
	Record   *record.Record
	// Answers are those of extenders, in the engine's own decisions; nil on a
	// branch.
	Answers *Answers
	// Meter is nil where nothing is measured, and on a branch.
	Meter *observe.Meter
	// Refuse says which nodes would delay those before what is tried; nil where that is
	// not asked, and on a branch.
	Refuse timeline.Refusal
	// Starts are when these are to start.
	Starts []time.Time

	// Queues is the order by queues that goes with the record, nil where the order is
	// another; QueuesOf makes the one of a fork.
	Queues   framework.Queues
	QueuesOf func(*record.Record) framework.Queues

	// start is where the next search for nodes begins (kube-scheduler's
	// nextStartNodeIndex).
	start int
	// present is when it decides, where that is not the time that it is told: in a plan.
	present time.Time
	// trial: nothing that is decided comes true.
	trial bool
	// decisions counts the cycles; with the seed it seeds each.
	decisions uint64
	scratch   scratch
	// fast is what the fast decider remembers. Forks of the view share it, branches have their
	// own.
	fast *memo
}

// Fork returns a decider over a fork of the record. It leaves d as it is: the next
// decision of d does not depend on who has looked.
func (d *Decider) Fork() *Decider {
	fork := &Decider{
		Options: d.Options, Profiles: d.Profiles, Record: d.Record.Fork(), QueuesOf: d.QueuesOf,
		start: d.start, decisions: d.decisions, trial: true,
	}
	if fork.QueuesOf != nil {
		fork.Queues = fork.QueuesOf(fork.Record)
	}
	return fork
}

// forkView returns a decider for a try of d's own: its view is a copy, what extenders
// answer is recorded with d's.
func (d *Decider) forkView() *Decider {
	d.memo()
	fork := *d
	fork.Record = d.Record.ForkView()
	fork.trial = true
	return &fork
}

// rejoin takes over what a fork has used up: the next decision depends on how many
// there were, and where the last search ended.
func (d *Decider) rejoin(fork *Decider) {
	d.start, d.decisions, d.scratch = fork.start, fork.decisions, fork.scratch
}

// Past is what the decisions that were made leave to the next.
type Past struct {
	Start     int    // where its search for nodes begins
	Decisions uint64 // how many there were
}

// Past returns it.
func (d *Decider) Past() Past { return Past{d.start, d.decisions} }

// Resume goes on from the past.
func (d *Decider) Resume(p Past) { d.start, d.decisions = p.Start, p.Decisions }

// newRun makes the next cycle, of a view, a time, and what belongs to groups.
func (d *Decider) newRun(o extpoints.CycleOptions) *extpoints.Cycle {
	d.decisions++
	o.Context, o.Seed, o.Trial, o.Present = d.context(), d.seed(d.decisions), d.trial, d.present
	c := extpoints.NewCycle(o)
	if d.Queues != nil {
		framework.UseQueues(c.State(), d.Queues)
	}
	return c
}

// seed is the seed of the cycle of the number.
func (d *Decider) seed(number uint64) uint64 { return Mix(d.Options.Seed ^ Mix(number)) }

// context is the context of the decider's decisions.
func (d *Decider) context() context.Context {
	if d.Answers == nil {
		return context.Background()
	}
	return d.Answers.ctx
}

// Mix spreads the bits of x (the finaliser of SplitMix64), so that seeds that
// follow each other give numbers that do not.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// TieBreak chooses among the nodes of the highest total score; package engine explains
// the values.
type TieBreak uint8

// The tie-breakers.
const (
	TieBreakHeap TieBreak = iota
	TieBreakLowestIndex
	TieBreakRandom
)

// FastPath says whether the fast decider is asked; package engine explains the values.
type FastPath uint8

// The values, in the order of those of package engine.
const (
	FastPathAuto FastPath = iota
	FastPathOff
	FastPathVerify
)

// memo is what the fast decider remembers, and its memory.
type memo struct {
	cache  fast.Cache
	found  fast.Found
	best   fast.Best
	key    []byte
	scores framework.Scores

	answered int // how many decisions
}

// memo returns the decider's, nil where the fast decider is not asked.
func (d *Decider) memo() *memo {
	if d.fast == nil && d.FastPath != FastPathOff {
		d.fast = &memo{}
	}
	return d.fast
}

// NodeGone has the decider keep nothing of a node that is gone.
func (d *Decider) NodeGone() {
	d.scratch = scratch{}
	if d.fast != nil {
		d.fast.cache.Forget()
		d.fast.found, d.fast.best, d.fast.scores = fast.Found{}, fast.Best{}, framework.Scores{}
	}
}

// scratch is memory that decisions reuse.
type scratch struct {
	feasible  []*extpoints.NodeInfo
	positions []int32 // of the feasible, in visiting order
	rejected  []rejection
	verdicts  []framework.Verdict
	scores    framework.Scores
}

// rejection is a node that the filters ruled out; it becomes part of a
// diagnosis only where one is needed.
type rejection struct {
	node    *extpoints.NodeInfo
	verdict framework.Verdict
}
