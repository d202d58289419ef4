package simulate_test

import (
	"flag"
	"math/rand/v2"
	"testing"

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
	if *seedFlag != 0 {
		simulate.Run(t, *seedFlag, simulate.Options{})
		return
	}
	first, n := firstSeed(t), histories(280)
	steps, reached := 0, map[string]int{}
	for i := range n {
		r := simulate.Run(t, first+i, simulate.Options{})
		steps += r.Steps
		for what, times := range r.Reached {
			reached[what] += times
		}
	}
	t.Logf("%d histories, %d steps, %v", n, steps, reached)
	reaches(t, reached, ought...)
	if *longFlag {
		reaches(t, reached, "devices given to a group")
	}
}

// reaches fails where no history has come by what it ought to, unless they are few.
func reaches(t *testing.T, reached map[string]int, ought ...string) {
	t.Helper()
	for _, what := range ought {
		if reached[what] == 0 && !testing.Short() {
			t.Errorf("no history has come by: %s", what)
		}
	}
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
// -long, and half of them with -short.
func histories(n uint64) uint64 {
	switch {
	case *longFlag:
		return 4 * n
	case testing.Short():
		return n / 6
	}
	return n / 3
}

// TestSimulationOfKubeSchedulersWakeUps runs some with the wake-ups of kube-scheduler.
func TestSimulationOfKubeSchedulersWakeUps(t *testing.T) {
	t.Parallel()
	for i := range histories(60) {
		simulate.Run(t, 1+i, simulate.Options{Compat: extpoints.KubeScheduler137})
	}
}

// TestSimulationOfQueues runs some with the order by queues: what is charged is what runs,
// and nothing that is placed breaks a quota.
func TestSimulationOfQueues(t *testing.T) {
	t.Parallel()
	if *seedFlag != 0 {
		simulate.Run(t, *seedFlag, simulate.Options{Queues: true})
		return
	}
	first, reached := firstSeed(t), map[string]int{}
	for i := range histories(60) {
		for what, times := range simulate.Run(t, first+i, simulate.Options{Queues: true}).Reached {
			reached[what] += times
		}
	}
	t.Logf("%v", reached)
	reaches(t, reached, "workload of a queue placed", "workload held back", "workload displaced for another queue",
		"victim in another queue", "victim tried to come back")
}

// TestSimulationOfScarceObjects runs some in which many want the same devices and volumes, and
// the answers of binders are lost: outside none is given twice.
func TestSimulationOfScarceObjects(t *testing.T) {
	t.Parallel()
	if *seedFlag != 0 {
		simulate.Run(t, *seedFlag, simulate.Options{Scarce: true})
		return
	}
	first, reached := firstSeed(t), map[string]int{}
	for i := range histories(100) {
		for what, times := range simulate.Run(t, first+i, simulate.Options{Scarce: true}).Reached {
			reached[what] += times
		}
	}
	t.Logf("%v", reached)
	reaches(t, reached, "devices given", "volume bound", "devices taken back")
}

// TestSimulationOfCrowdedNodes runs some in which all that counts is room, of which there is too
// little: nobody is displaced in vain, budgets are kept, and no room is kept for nothing.
func TestSimulationOfCrowdedNodes(t *testing.T) {
	t.Parallel()
	if *seedFlag != 0 {
		simulate.Run(t, *seedFlag, simulate.Options{Crowded: true})
		return
	}
	first, reached := firstSeed(t), map[string]int{}
	for i := range histories(100) {
		for what, times := range simulate.Run(t, first+i, simulate.Options{Crowded: true}).Reached {
			reached[what] += times
		}
	}
	t.Logf("%v", reached)
	reaches(t, reached, "room made for a group", "group displaced as one")
}

// ought is what histories must come by, or they show nothing.
var ought = []string{
	"group Success", "group Unschedulable", "group Error", "group placed in part", "group of one zone placed",
	"group of a tree placed", "group that leaves as one placed", "room made for a group", "group displaced as one",
	"volume bound", "volume made", "volume not made", "workload with volumes bound",
	"devices given", "devices shared", "devices taken back",
	"workload with device claims bound", "workload with a card bound",
}
