package reference

import (
	"sync/atomic"
	"time"

	"k8s.io/utils/clock/testing"
)

// Clock is kube-scheduler's clock. It stands still, unless it is told to run: then
// it moves a little whenever it is looked at, so that what happens together happens
// one after the other, as by a real clock.
type Clock struct {
	*testing.FakeClock
	runs atomic.Bool
}

// Run lets the clock run or stand still.
func (c *Clock) Run(on bool) { c.runs.Store(on) }

// Now implements clock.PassiveClock.
func (c *Clock) Now() time.Time {
	if c.runs.Load() {
		c.Step(time.Nanosecond)
	}
	return c.FakeClock.Now()
}

// Set moves the clock, but not back behind where it has run to.
func (c *Clock) Set(now time.Time) {
	if now.After(c.FakeClock.Now()) {
		c.SetTime(now)
	}
}

// set is where the clock was set to: it only runs by nanoseconds.
func (c *Clock) set() time.Time { return c.FakeClock.Now().Truncate(time.Microsecond) }
