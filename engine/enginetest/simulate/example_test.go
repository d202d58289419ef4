package simulate_test

import (
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/engine/enginetest/simulate"
)

// A test that runs one random history and fails with its seed if an invariant is
// broken.
func ExampleRun() {
	_ = func(t *testing.T) {
		simulate.Run(t, rand.Uint64(), simulate.Options{})
	}
}
