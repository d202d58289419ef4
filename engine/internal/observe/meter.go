package observe

import (
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/extpoints"
)

// Meter is told how often plugins are asked, and how long they and some of the
// engine's own work take. A nil *Meter stands for nobody: then nothing is measured.
// Every function is there. PluginRan is called by several goroutines at once, the
// others one at a time. Package engine has an event for each and says what it means.
type Meter struct {
	// Clock is how much time has passed since some moment. It is read to measure and
	// for nothing else.
	Clock func() time.Duration
	// SampleEvery: each call of a plugin is told of in one cycle of so many, and of
	// PreEnqueue plugins one call in so many.
	SampleEvery int

	PluginRan           func(point, plugin, profile string, code extpoints.Code, took time.Duration)
	PluginEvaluated     func(point, plugin, profile string, times int)
	HintRan             func(plugin string, event extpoints.ClusterEvent, hint extpoints.Hint, err error, took time.Duration)
	ChangeOffered       func(event extpoints.ClusterEvent, took time.Duration)
	PreemptionTried     func(point, plugin, profile string, code extpoints.Code, took time.Duration)
	PlacementsGenerated func(profile string, count int)
	PlacementTried      func(profile string, feasible bool, took time.Duration)
}

// Samples reports whether the cycle is sampled that the mixed number belongs to: the
// number of the cycle with its bits spread, so that a workload that is always at the
// same place among others has the same chance.
func (m *Meter) Samples(mixed uint64) bool { return mixed%uint64(m.SampleEvery) == 0 }

// Offering calls f, which tells the queue of the event.
func (m *Meter) Offering(event extpoints.ClusterEvent, f func()) {
	if m == nil {
		f()
		return
	}
	start := m.Clock()
	f()
	m.ChangeOffered(event, m.Clock()-start)
}

// GuardedClock is the clock, which has not moved where it panics or there is none.
func GuardedClock(log hclog.Logger, clock func() time.Duration) func() time.Duration {
	return func() (passed time.Duration) {
		if clock == nil {
			return 0
		}
		defer func() {
			if cause := recover(); cause != nil {
				LogError(log, "the clock panicked", "panic", cause)
			}
		}()
		return clock()
	}
}
