package enginetest_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/engine/enginetest"
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
		enginetest.Simulate(t, *seedFlag, enginetest.SimOptions{})
		return
	}
	first, n := uint64(1), 2000
	if *soakFlag {
		first = rand.Uint64()
	}
	if testing.Short() {
		n = 200
	}
	t.Logf("seeds from %d", first)
	steps := 0
	for i := range uint64(n) {
		steps += enginetest.Simulate(t, first+i, enginetest.SimOptions{}).Steps
	}
	t.Logf("%d histories, %d steps", n, steps)
}
