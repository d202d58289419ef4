package simulate_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/engine/enginetest/simulate"
)

var (
	seedFlag = flag.Uint64("seed", 0, "run only the simulated history of this seed")
	soakFlag = flag.Bool("soak", false, "begin at a random seed")
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
	first, n := uint64(1), 1000
	if *soakFlag {
		first = rand.Uint64()
	}
	if testing.Short() {
		n = 100
	}
	t.Logf("seeds from %d", first)
	steps, reached := 0, map[string]int{}
	for i := range uint64(n) {
		r := simulate.Run(t, first+i, simulate.Options{})
		steps += r.Steps
		for what, times := range r.Reached {
			reached[what] += times
		}
	}
	t.Logf("%d histories, %d steps, %v", n, steps, reached)
	for _, what := range ought {
		if reached[what] == 0 {
			t.Errorf("no history has come by: %s", what)
		}
	}
}

// ought is what histories must come by, or they show nothing.
var ought = []string{
	"group Success", "group Unschedulable", "group Error", "group placed in part", "group of one zone placed",
	"group of a tree placed", "group that leaves as one placed", "room made for a group", "group displaced as one",
	"volume bound", "volume made", "volume not made", "workload with volumes bound",
	"devices given", "devices given to a group", "devices shared", "devices taken back",
	"workload with device claims bound", "workload with a card bound",
}
