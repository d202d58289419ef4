package decide

import (
	"time"

	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/extpoints"
)

// Options are how decisions are made. Package engine has their defaults and says
// what they mean.
type Options struct {
	Workers                  int
	Seed                     uint64
	TieBreak                 TieBreak
	PercentageOfNodesToScore int32
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
	Meter Meter

	// start is where the next search for nodes begins (kube-scheduler's
	// nextStartNodeIndex).
	start int
	// decisions counts the cycles; with the seed it seeds each.
	decisions uint64
	scratch   scratch
}

// Meter is told what a decision costs.
type Meter interface {
	// Samples reports whether the cycle of the number is one of those in which
	// each call of a plugin is told of.
	Samples(number uint64) bool
	// Clock is how much time has passed since some moment.
	Clock() time.Duration
	// PlacementsGenerated tells how many placements are to be tried for a group.
	PlacementsGenerated(profile string, placements int)
	// PlacementTried tells of one of them that did not fail.
	PlacementTried(profile string, feasible bool, took time.Duration)
}

// Fork returns a decider over a fork of the record. It leaves d as it is: the next
// decision of d does not depend on who has looked.
func (d *Decider) Fork() *Decider {
	return &Decider{
		Options: d.Options, Profiles: d.Profiles, Record: d.Record.Fork(),
		start: d.start, decisions: d.decisions,
	}
}

// forkView returns a decider for a try of d's own: its view is a copy, what extenders
// answer is recorded with d's.
func (d *Decider) forkView() *Decider {
	fork := *d
	fork.Record = d.Record.ForkView()
	return &fork
}

// rejoin takes over what a fork has used up: the next decision depends on how many
// there were, and where the last search ended.
func (d *Decider) rejoin(fork *Decider) {
	d.start, d.decisions, d.scratch = fork.start, fork.decisions, fork.scratch
}

// newState makes the state of the next cycle.
func (d *Decider) newState(now time.Time, view extpoints.View) *extpoints.CycleState {
	d.decisions++
	return extpoints.NewCycleState(d.context(), view, now, d.seed(d.decisions))
}

// seed is the seed of the cycle of the number.
func (d *Decider) seed(number uint64) uint64 { return Mix(d.Options.Seed ^ Mix(number)) }

// Mix spreads the bits of x (the finaliser of SplitMix64), so that seeds that
// follow each other give numbers that do not.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
