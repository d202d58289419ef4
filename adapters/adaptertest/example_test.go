package adaptertest_test

import (
	"fmt"
	"testing"

	"github.com/berth-project/berth/adapters/adaptertest"
)

// The whole test of an adapter. newToy stands for a function of yours that makes a
// harness around your adapter.
func ExampleRun() {
	_ = func(t *testing.T) {
		adaptertest.Run(t, newToy(""))
	}
}

// Each check says what it proves.
func ExampleChecks() {
	for _, c := range adaptertest.Checks()[:4] {
		fmt.Printf("%s: %s\n", c.Name, c.Proves)
	}
	// Output:
	// Place: what waits is started, whenever it and its node came
	// Finish: a run that ends frees its room, and is not started again
	// BindTwice: Bind may be called again for what runs: it succeeds, and starts nothing
	// BindElsewhere: Bind to another node of what runs already fails, and starts nothing
}
