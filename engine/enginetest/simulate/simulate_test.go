package simulate_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/simulate"
	"github.com/berth-project/berth/extpoints"
)

var (
	seedFlag = flag.Uint64("seed", 0, "run only the simulated history of this seed")
	soakFlag = flag.Bool("soak", false, "begin at a random seed")
	longFlag = flag.Bool("long", false, "simulate twelve times as many histories")
)

// TestSimulation runs random histories: always the same ones, so that what was
// green stays green, and with -soak others. A failure says its seed; -seed
// repeats it.
func TestSimulation(t *testing.T) {
	t.Parallel()
	want := slices.Clip(rare)
	if *longFlag {
		want = append(want, "devices given to a group")
	}
	run(t, 280, simulate.Options{}, want...)
}

// run runs histories, see [histories] for how many, and wants some to come by what they ought to, where -short
// does not make them few. With -seed it runs that one only.
func run(t *testing.T, n uint64, o simulate.Options, ought ...string) {
	t.Helper()
	if *seedFlag != 0 {
		for _, o.Replay = range replays(*seedFlag) {
			simulate.Run(t, *seedFlag, o)
		}
		return
	}
	first, steps, reached := firstSeed(t), 0, map[string]int{}
	for i := range histories(n) {
		for _, o.Replay = range replays(first + i) {
			r := simulate.Run(t, first+i, o)
			steps += r.Steps
			for what, times := range r.Reached {
				reached[what] += times
			}
		}
	}
	t.Logf("%d histories, %d steps, %v", histories(n), steps, reached)
	for _, what := range ought {
		if reached[what] == 0 && !testing.Short() {
			t.Errorf("no history has come by: %s", what)
		}
	}
}

// replays are the ways in which the history of a seed is replayed. With -long each is in both; else,
// as it costs as much as the history, one in four is in one of them.
func replays(seed uint64) []simulate.Replay {
	ways := []simulate.Replay{simulate.ReplayWhole, simulate.ReplayInParts}
	switch {
	case *longFlag || *seedFlag != 0:
		return ways
	case seed%4 == 0:
		return ways[seed/4%2:][:1]
	}
	return []simulate.Replay{simulate.NoReplay}
}

// firstSeed is where a test begins that simulates many.
func firstSeed(t *testing.T) uint64 {
	first := uint64(1)
	if *soakFlag {
		first = rand.Uint64()
	}
	t.Logf("seeds from %d", first)
	return first
}

// histories is how many a test simulates: a third of n, twelve times as many with
// -long, and a sixth of them with -short.
func histories(n uint64) uint64 {
	switch {
	case *longFlag:
		return 4 * n
	case testing.Short():
		return n / 18
	}
	return n / 3
}

// TestSimulationOfKubeSchedulersWakeUps runs some with the wake-ups of kube-scheduler.
func TestSimulationOfKubeSchedulersWakeUps(t *testing.T) {
	t.Parallel()
	run(t, 60, simulate.Options{Compat: extpoints.KubeScheduler137})
}

// TestSimulationOfQueues runs some with the order by queues: what is charged is what runs,
// nothing that is placed breaks a quota or a limit, nothing else is held back by one, and nobody is passed.
func TestSimulationOfQueues(t *testing.T) {
	t.Parallel()
	run(t, 60, simulate.Options{Queues: true}, "workload held back", "workload held back on a branch",
		"workload displaced for another queue", "victim in another queue", "victim tried to come back", "workload refused by a limit")
}

// TestSimulationOfScarceObjects runs some in which many want the same devices and volumes, and
// the answers of binders are lost: outside none is given twice.
func TestSimulationOfScarceObjects(t *testing.T) {
	t.Parallel()
	run(t, 100, simulate.Options{Scarce: true}, "devices given", "volume bound", "devices taken back")
}

// TestSimulationOfCrowdedNodes runs some in which all that counts is room, of which there is too
// little: nobody is displaced in vain, budgets are kept, and no room is kept for nothing.
func TestSimulationOfCrowdedNodes(t *testing.T) {
	t.Parallel()
	run(t, 100, simulate.Options{Crowded: true}, "room made for a group", "group displaced as one")
}

// TestSimulationOfBrokenNodes runs some in which nodes start nothing for a while.
func TestSimulationOfBrokenNodes(t *testing.T) {
	t.Parallel()
	run(t, 120, simulate.Options{Broken: true}, "binding that was not there", "workload kept from a node that was not there")
}

// TestSimulationOfMeasuredNodes runs some in which nodes report what is left in their zones and how busy they are,
// late, in any order, falsely or not at all: no zone is given twice, nobody is put too far from whom it talks to, and
// nobody sleeps who could be placed.
func TestSimulationOfMeasuredNodes(t *testing.T) {
	t.Parallel()
	run(t, 120, simulate.Options{Measured: true},
		"workload that needs a zone bound", "workload too far from others", "workload placed that was too far from others")
}

// TestSimulationOfHostileSurroundings runs some whose surroundings panic, end goroutines, call back, hang and
// answer twice. The engine goes on, or says that it is broken, and the next one takes over.
func TestSimulationOfHostileSurroundings(t *testing.T) {
	t.Parallel()
	n := uint64(60)
	if *longFlag {
		n = 500
	}
	run(t, n, simulate.Options{Hostile: true}, "engine broken and replaced")
}

// TestSimulationOfOddHistories runs those of many that few others are like, so that they are run at all without -long.
func TestSimulationOfOddHistories(t *testing.T) {
	t.Parallel()
	planAhead := func(c *engine.Config) { c.Backfill = engine.Backfill{Mode: engine.EASY} }
	for _, c := range []struct {
		what string
		seed uint64
		o    simulate.Options
	}{
		{"room is kept where a victim was asked to leave for another reason before", 227, simulate.Options{Queues: true}},
		{"the logger calls the engine back when it has broken down", 1688, simulate.Options{Hostile: true}},
		{"a group that would fit where it is nominated has waited for long", 126, simulate.Options{Queues: true}},
		{"a recording begins where a volume is decided and written as one", 1982, simulate.Options{Hostile: true, Replay: simulate.ReplayInParts}},
		{"what never fits has its turn in a plan before others of its queue", 5, simulate.Options{Queues: true, Configure: planAhead}},
		{"a workload with its volume comes to a node that has too many", 72, simulate.Options{Measured: true, Plugins: simulate.MoodGood}},
		{"devices are what a victim gives back to another queue", 28, simulate.Options{Queues: true, Configure: planAhead}},
		{"a group fits on other nodes than those that the search came to", 28, simulate.Options{
			Queues: true, Configure: planAhead, Without: []string{"storage", "devices", "tend", "permit", "nonsense", "restart"},
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			simulate.Run(t, c.seed, c.o)
		})
	}
}

// rare is what histories must come by, or they show nothing.
var rare = []string{
	"group Success", "group Unschedulable", "group Error", "group placed in part", "group of one zone placed",
	"group of a tree placed", "group that leaves as one placed", "room made for a group", "group displaced as one",
	"volume bound", "volume made", "volume not made", "workload with volumes bound",
	"devices given", "devices shared", "devices taken back",
	"workload with device claims bound", "workload with a card bound",
	"workload without a profile", "workload whose node is away",
}
