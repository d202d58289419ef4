package simulate

import (
	"math/rand/v2"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
)

// Options says what a simulated history is like. Steps, Nodes, Plugins and Source that are left at
// their zero values are chosen by the seed; the rest is off, or the engine's default.
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
	TieBreak engine.TieBreak // zero: engine.TieBreakHeap
	// Compat is the engine's. Where it is not [extpoints.Improved] a workload may
	// miss what makes it fit.
	Compat extpoints.Compat
	// Queues: the engine orders by queues, which come, change and go.
	Queues bool
	// Scarce: there is one pool of devices, and a few volumes, and many workloads want
	// them. The answers of binders are often lost.
	Scarce bool
	// Crowded: room is all that counts. The workloads want more of it than there is, budgets
	// protect many of them, and there are no volumes and devices.
	Crowded bool
	// Broken: nodes break, so that they start nothing and say so, and are mended without a word.
	Broken bool
	// Measured: nodes report how loaded they are and what is left in each of their zones, late, in any
	// order, falsely or not at all, and plugins go by it. In most of these histories workloads are of
	// applications, too, and plugins go by what the network costs, of which the engine is told as late.
	Measured bool
	// Hostile: at the points where an engine calls them, its surroundings panic, end the goroutine or
	// call it back; tasks hang, and answers come twice. The plugins misbehave.
	Hostile bool
	// Record keeps the events and the recorder's logs. With Rotate a new log begins
	// after so many steps, as soon as it can, with the state of the engine.
	Record bool
	Rotate int // in steps; 0: one log. With ReplayInParts the seed chooses it
	// Replay has the engines of the history replayed at its end. Each must decide the same again,
	// raise the same events, and record the same.
	Replay Replay
	// NoShrinking reports a failure as it is.
	NoShrinking bool
	// Configure may change the configuration of every engine of the history.
	// Calm is called when nothing is to fail any more: what it added must then
	// be sound.
	Configure func(*engine.Config)
	Calm      func() // nil: nothing is called
}

// Replay says from where the engines of a history are replayed.
type Replay uint8

// The ways to replay. In parts: a new log begins at random steps, with the state of the engine.
const (
	NoReplay Replay = iota
	ReplayWhole
	ReplayInParts
)

// Mood says how the plugins of a history behave.
type Mood uint8

// The moods. In histories without a faulty plugin it is also checked that
// every workload is woken by what makes it fit.
const (
	MoodBySeed Mood = iota
	MoodGood
	MoodFaulty
)
