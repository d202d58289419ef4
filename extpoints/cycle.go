package extpoints

import (
	"context"
	"time"
)

// Cycle is a scheduling cycle as those see it who run it: the engine, and the kits and
// tests of plugins. They give plugins its [CycleState], hold on to the Cycle
// themselves, and read from it what the plugins have asked for. A plugin makes one only
// to run points of its own for another workload. It is used like its state.
type Cycle struct {
	state   CycleState
	entries [8]stateEntry // memory for those of the state, which seldom are more
}

// NewCycle makes a cycle.
func NewCycle(o CycleOptions) *Cycle {
	if o.Context == nil {
		o.Context = context.Background()
	}
	c := &Cycle{}
	c.state.entries = c.entries[:0]
	if o.Values != nil {
		o.Values.CopyTo(&c.state)
		o.Values = nil
	}
	c.state.o = o
	return c
}

// State is what plugins get.
func (c *Cycle) State() *CycleState { return &c.state }

// AskedForTime reports whether a plugin has asked the state what time it is, so that it may
// say something else at another.
func (c *Cycle) AskedForTime() bool { return c.state.timed.Load() }

// AgesHold returns between which times, and not at these, all that plugins have asked about the
// age of reports would be answered as it was, if the cycle were run then. A zero time is no bound.
func (c *Cycle) AgesHold() (after, before time.Time) {
	present := c.state.Present()
	if d := c.state.ages.behind.Load(); d != 0 {
		after = present.Add(-time.Duration(d))
	}
	if d := c.state.ages.ahead.Load(); d != 0 {
		before = present.Add(time.Duration(d))
	}
	return after, before
}

// EndTrial makes a trial in a group's cycle the beginning of a cycle by itself, for
// real, with what plugins keep in it.
func (c *Cycle) EndTrial() { c.state.o.Trial, c.state.o.Group, c.state.o.Shared = false, nil, nil }

// Requests are what plugins have asked for so far. PreBind plugins may be running.
func (c *Cycle) Requests() Requests {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	return c.state.requests
}
