package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Forecast says when those that wait will probably start, from the state that the engine is in. It
// decides nothing and changes nothing that decisions depend on. The draws depend
// on Config.Seed: in the same state, at the same time, the forecast is the same. Each simulation
// has plugins of its own, made by the factories of the profiles, and asks the extenders. The error is
// ErrNoForecasts where Config.Forecast does not ask for any, the cause where ctx ends before, or
// what [NewRaw] says of the plugins.
func (r *Raw) Forecast(ctx context.Context, now time.Time) (*Forecast, error) {
	f, err := r.forecaster(now)
	if err != nil {
		return nil, err
	}
	out, err := f.forecast(ctx)
	if err == nil {
		r.expect(f, out)
	}
	return out, err
}

// Forecast says when those that wait will probably start; see [Raw.Forecast]. The engine goes on
// meanwhile.
func (e *Engine) Forecast(ctx context.Context) (out *Forecast, err error) {
	if err := e.lock("Forecast"); err != nil {
		return nil, err
	}
	var f *forecaster
	e.hold(func(r *Raw, now time.Time) { f, err = r.forecaster(now) })
	if err != nil {
		return nil, err
	}
	if out, err = f.forecast(ctx); err == nil {
		e.locked(func(r *Raw, _ time.Time) { r.expect(f, out) })
	}
	return out, err
}

// forecaster takes down the state of the engine.
func (r *Raw) forecaster(now time.Time) (*forecaster, error) {
	if r.forecasts == nil {
		return nil, ErrNoForecasts
	}
	if err := r.check("Forecast", now); err != nil {
		return nil, err
	}
	f := &forecaster{cfg: *r.cfg, runs: r.cfg.Forecast.Runs, now: now, record: r.rec.Fork(), history: r.forecasts.history.Clone(), places: map[string]int{}}
	f.cfg.Recorder, f.cfg.Listener, f.cfg.Logger = nil, Listener{}, hclog.NewNullLogger()
	f.cfg.Forecast, f.cfg.RememberDecisions = ForecastOptions{}, -1
	f.cfg.Queue.MaxInUnschedulable = never // events wake what can start
	waiting, _ := r.queue.State()          // what is in flight waits on Permit, with its room
	f.state = state{Queue: waiting, Decisions: r.decider.Past(), NextHold: r.nextHold, Plan: r.plan.Past()}
	f.choose(r.queue.InOrder(), cmp.Or(r.cfg.Forecast.Depth, 100))
	return f, nil
}

// choose takes the first of those that wait, and leaves no others in the queue.
func (f *forecaster) choose(waiting []*queue.Item, depth int) {
	chosen := map[string]bool{}
	for i, it := range waiting[:min(depth, len(waiting))] {
		item := forecastItem{id: it.ID()}
		if it.Group == nil {
			item.members = []string{it.ID()}
		}
		for _, m := range it.Members {
			item.members = append(item.members, m.ID())
		}
		f.waiting = append(f.waiting, item)
		chosen[it.ID()] = true
		for _, id := range item.members {
			f.places[id] = i
		}
	}
	q := f.state.Queue
	q.Items = slices.DeleteFunc(q.Items, func(s queue.ItemState) bool { return !chosen[cmp.Or(s.Group, s.Workload)] })
	q.Holds = slices.DeleteFunc(q.Holds, func(h queue.HoldState) bool { return !chosen[h.Item] })
}

// forecast makes the simulations.
func (f *forecaster) forecast(ctx context.Context) (*Forecast, error) {
	out := &Forecast{At: f.now, Ended: f.history.Len()}
	if out.Ended == 0 {
		return out, nil
	}
	starts := make([][]time.Time, len(f.waiting))
	for n := range f.runs {
		s, err := f.simulate(ctx, n)
		if err != nil {
			return nil, err
		}
		for i, at := range s.starts {
			starts[i] = append(starts[i], at)
		}
	}
	for i, item := range f.waiting {
		out.Starts = append(out.Starts, ForecastStart{ID: item.id, P50: quantile(starts[i], 50), P90: quantile(starts[i], 90)})
	}
	return out, nil
}

// quantile is the time at or before which the start is in so many of 100 cases: with one start more than
// there are, each as likely to be anywhere among them. Zero where the simulations do not reach it.
func quantile(starts []time.Time, percent int) time.Time {
	slices.SortFunc(starts, func(a, b time.Time) int {
		if a.IsZero() != b.IsZero() {
			return b.Compare(a) // not at all is after all
		}
		return a.Compare(b)
	})
	return starts[(percent*(len(starts)+1)+99)/100-1]
}

// expect remembers what was forecast for those that still wait, to compare it with what happens.
func (r *Raw) expect(f *forecaster, out *Forecast) {
	checks := r.forecasts.checks
	for i := range out.Starts {
		s := &out.Starts[i]
		waits := func(id string) bool {
			was, is := f.record.Workload(id), r.rec.Workload(id)
			return is != nil && is.Phase == model.Pending && is.CreateIndex == was.CreateIndex
		}
		if !s.P90.IsZero() && !slices.ContainsFunc(f.waiting[i].members, func(id string) bool { return !waits(id) }) {
			checks.Expect(f.waiting[i].members, s.P50, s.P90)
		}
	}
	out.Calibration = Calibration(checks.Calibration)
}
