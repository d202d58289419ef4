package forecast

import "time"

// remembered is of how many of those that wait it is remembered what was forecast.
const remembered = 1024

// Calibration is how often forecasts have come true, as the engine's Calibration.
type Calibration struct {
	Starts       int
	ByP50, ByP90 int
}

// expected is what was forecast for something that waits.
type expected struct {
	p50, p90 time.Time
	members  []string
}

// Checks compare forecasts with what happens.
type Checks struct {
	Calibration
	forecasts int
	of        map[string]*expected // by the IDs of workloads
}

// NewChecks returns one that has seen nothing.
func NewChecks() *Checks { return &Checks{of: map[string]*expected{}} }

// Expect takes note of a forecast for what the workloads that wait are: one, or the members of a
// tree of groups. The first counts.
func (c *Checks) Expect(members []string, p50, p90 time.Time) {
	for _, id := range members {
		if c.of[id] != nil {
			return
		}
	}
	if c.forecasts == remembered || len(members) == 0 {
		return
	}
	c.forecasts++
	e := &expected{p50, p90, members}
	for _, id := range members {
		c.of[id] = e
	}
}

// Started counts what a workload is that has started, or its tree of which it is the first.
func (c *Checks) Started(id string, at time.Time) {
	e := c.of[id]
	if e == nil {
		return
	}
	c.Starts++
	if !at.After(e.p50) {
		c.ByP50++
	}
	if !at.After(e.p90) {
		c.ByP90++
	}
	c.forecasts--
	for _, member := range e.members {
		if c.of[member] == e {
			delete(c.of, member)
		}
	}
}

// Gone forgets a workload that does not wait any more.
func (c *Checks) Gone(id string) {
	e := c.of[id]
	if e == nil {
		return
	}
	delete(c.of, id)
	for _, member := range e.members {
		if c.of[member] == e {
			return
		}
	}
	c.forecasts--
}
