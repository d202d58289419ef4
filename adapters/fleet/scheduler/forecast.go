package scheduler

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Forecasts are for people. They are made beside the engine, which only gives a copy of its state
// for each, and nothing reads them but requests. Where none are wanted, nothing is kept for them.

// MaxForecasts is the most of Config.Forecasts.
const MaxForecasts = 1000

// forecastRuns is in how many simulations a forecast looks: the P50 is the tenth start of
// nineteen, the P90 the eighteenth.
const forecastRuns = 19

// How often forecasts are made. Between two of them are forecastPause, and forecastRest times as long as the
// last one took: one is under way for at most a twentieth of the time. One that takes longer than
// forecastPatience is given up.
const (
	forecastPause    = 30 * time.Second
	forecastRest     = 19
	forecastPatience = time.Minute
)

var errForecastTooLong = errors.New("it takes longer than a minute: lower forecasts or reservations in the settings of the servers")

// forecasting is how the engine forecasts.
func forecasting(depth int) engine.ForecastOptions {
	if depth == 0 {
		return engine.ForecastOptions{}
	}
	return engine.ForecastOptions{Runs: forecastRuns, Depth: depth}
}

// foreseen is a forecast, by the names under which the engine has what waits.
type foreseen struct {
	*engine.Forecast
	starts map[string]*engine.ForecastStart
}

// keepForecasting makes forecasts of an engine until ctx ends.
func (c *Controller) keepForecasting(ctx context.Context, eng *engine.Engine) {
	for pause := forecastPause; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		began := time.Now()
		c.foreseen.Store(c.foresee(ctx, eng))
		pause = max(forecastPause, forecastRest*time.Since(began))
	}
}

// foresee makes a forecast, nil where there is none.
func (c *Controller) foresee(ctx context.Context, eng *engine.Engine) *foreseen {
	limited, stop := context.WithTimeoutCause(ctx, forecastPatience, errForecastTooLong)
	defer stop()
	f, err := eng.Forecast(limited)
	if err != nil {
		if ctx.Err() == nil {
			c.cfg.Logger.Warn("no forecast was made", "error", err)
		}
		return nil
	}
	out := &foreseen{f, make(map[string]*engine.ForecastStart, len(f.Starts))}
	for i := range f.Starts {
		out.starts[f.Starts[i].ID] = &f.Starts[i]
	}
	return out
}

// Forecast says when an element that waits will probably start, nil where no forecasts are made.
// Without a time nothing was forecast of it.
func (c *Controller) Forecast(v state.View, j *state.Job, element int32) *api.Forecast {
	if c.cfg.Forecasts == 0 {
		return nil
	}
	out := &api.Forecast{}
	f := c.foreseen.Load()
	if f == nil {
		return out
	}
	if s := f.starts[waitingName(j, nextTask(v, j, element))]; s != nil {
		out.At, out.P50, out.P90 = f.At.UTC(), s.P50.UTC(), s.P90.UTC()
	}
	return out
}

// Calibration says how often forecasts have come true, nil where none are made.
func (c *Controller) Calibration() *api.Calibration {
	if c.cfg.Forecasts == 0 {
		return nil
	}
	out := &api.Calibration{}
	if f := c.foreseen.Load(); f != nil {
		out.Starts, out.ByP50, out.ByP90 = f.Calibration.Starts, f.Calibration.ByP50, f.Calibration.ByP90
	}
	return out
}

// Of how many attempts of each user in each queue a new engine hears how long they ran, and of how
// many in all: the last ones.
const (
	pastOfEach = 128
	pastOfAll  = 8192
)

// ranToTheEnd are the states of attempts that say something about how long others will run.
var ranToTheEnd = map[job.State]bool{job.Completed: true, job.Failed: true, job.Timeout: true, job.OutOfMemory: true}

// pastRuns are the last attempts that ran within a time limit, in the order of their ends.
func pastRuns(v state.View) []*state.Record {
	type class struct{ queue, owner string }
	last := map[class][]*state.Record{}
	for r := range v.RecordsAfter(0) {
		if r.TimeLimit <= 0 || r.Started.IsZero() || !r.Ended.After(r.Placed) || !ranToTheEnd[r.Outcome.State] || v.Queue(r.Queue) == nil {
			continue
		}
		k := class{r.Queue, r.Owner}
		last[k] = append(last[k][max(0, len(last[k])+1-pastOfEach):], r)
	}
	all := slices.Concat(slices.Collect(maps.Values(last))...)
	slices.SortFunc(all, func(a, b *state.Record) int { return cmp.Compare(a.Seq, b.Seq) })
	return all[max(0, len(all)-pastOfAll):]
}

// tellPast tells a new engine for how long attempts ran that have ended, as workloads that take nothing,
// were there, and are gone. It remembers the same of those that end from now on.
func (c *Controller) tellPast(v state.View) {
	runs, now := pastRuns(v), time.Now()
	for i, r := range runs {
		if c.byQueues {
			c.ownerNamed(v, r.Owner)
		}
		w := &model.Workload{ID: pastID(i), Queue: r.Queue, Principal: userPrincipal(r.Owner), Limit: roomThen(v, r), Data: task{}}
		c.change(engine.Adopt(w, model.Binding{Node: pastNode, Since: now.Add(r.Placed.Sub(r.Ended))}))
	}
	c.tell()
	for i := range runs {
		c.change(engine.Remove(pastID(i)))
	}
	c.tell()
}

// roomThen is for how long an attempt might have taken room.
func roomThen(v state.View, r *state.Record) time.Duration {
	s := job.Spec{TimeLimit: r.TimeLimit}
	if j := v.Job(r.Job); j != nil {
		s.KillGrace = j.Spec.KillGrace
	}
	return roomLimit(&s)
}

// pastNode is no node of the fleet, and pastID the name of no task.
const pastNode = "berth/past"

func pastID(i int) string { return pastNode + "/" + strconv.Itoa(i) }
