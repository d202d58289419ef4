package engine

import (
	"fmt"
	"time"
)

// ForecastOptions says how the engine forecasts. A forecast is for people: no decision and no
// promise depends on it.
type ForecastOptions struct {
	// Runs is in how many simulations a forecast looks at what may happen: 9 or more, or 0,
	// the default, for no forecasts. Then nothing is remembered for them either.
	Runs int
	// Depth is of how many of the first that wait it is forecast when they start. Those
	// behind them are not in the simulations. Default 100.
	Depth int
}

// problems are what is wrong.
func (o *ForecastOptions) problems() (list []error) {
	if o.Runs != 0 && o.Runs < fewestRuns {
		list = append(list, fmt.Errorf("Forecast.Runs: %d is less than %d, which the P90 needs; 0 is for no forecasts", o.Runs, fewestRuns))
	}
	if o.Depth < 0 {
		list = append(list, fmt.Errorf("Forecast.Depth: %d is negative", o.Depth))
	}
	return list
}

// fewestRuns have a P90: nine of ten starts of one more are not after the last of theirs.
const fewestRuns = 9

// Forecast is when workloads that wait will probably start. In each of a number of simulations
// the engine's own code goes on from the present, with the reservations that there are: what runs, and what
// starts, ends after a run time that is drawn from those of similar workloads, in relation to their limits. Similar are
// those of the same principal in the same queue, where at least 8 of them have ended, else those in the
// queue, else all; of each the last 128 count. What has no limit never ends. Nothing new comes, nothing
// fails, and what would be displaced waits again.
type Forecast struct {
	// At is the present in which the simulations began.
	At time.Time
	// Ended is of how many workloads with a limit the run times are known: they were bound or
	// confirmed, not terminating, when they were finished or removed. 0: of none, and nothing is forecast.
	Ended int
	// Starts are the starts of those that wait, in order, down to ForecastOptions.Depth.
	Starts []ForecastStart
	// Calibration is how often earlier forecasts of this engine have come true.
	Calibration Calibration
}

// ForecastStart is when something that waits will probably start.
type ForecastStart struct {
	// ID is the workload's, or that of the highest group of a tree, of which the first member counts.
	ID string
	// P50 and P90 are by when it starts in 50 and in 90 of 100 cases. Zero: it did not start
	// in so many of the simulations, although all has ended there that has a limit.
	P50, P90 time.Time
}

// Calibration is how often forecasts have come true. Of each workload or group that started
// it counts the first forecast that was made for it while it waited. At most 1,024 of those that wait
// are remembered.
type Calibration struct {
	// Starts is how many have started that were forecast.
	Starts int
	// ByP50 is how many of them had started by the P50, and ByP90 by the P90. Where forecasts are
	// right, these are about 50 and 90 of each 100.
	ByP50, ByP90 int
}
