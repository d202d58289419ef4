package simulate_test

import (
	"fmt"
	"testing"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/simulate"
)

// TestSimulationOfBackfill runs some with an engine that plans ahead. That reservations are kept,
// and that nothing waits without need, is shown in package engine, which sees them.
func TestSimulationOfBackfill(t *testing.T) {
	t.Parallel()
	for _, how := range []engine.Backfill{
		{Mode: engine.EASY}, {Mode: engine.Reservations, Reservations: 2, Pinned: true}, {Mode: engine.Conservative},
	} {
		t.Run(fmt.Sprint(how.Mode), func(t *testing.T) {
			t.Parallel()
			for i := range min(histories(12), 30) {
				simulate.Run(t, 1+i, simulate.Options{Configure: func(c *engine.Config) { c.Backfill = how }})
			}
		})
		t.Run(fmt.Sprint(how.Mode, " by queues"), func(t *testing.T) {
			t.Parallel()
			for i := range min(histories(12), 30) {
				simulate.Run(t, 1+i, simulate.Options{Queues: true, Configure: func(c *engine.Config) { c.Backfill = how }})
			}
		})
	}
}
