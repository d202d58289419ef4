package engine

import (
	"cmp"
	"time"

	"github.com/berth-project/berth/engine/internal/forecast"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// forecasts is what an engine remembers for its forecasts.
type forecasts struct {
	history *forecast.History
	checks  *forecast.Checks
}

// newForecasts returns what remembers nothing yet, nil where there are none to be.
func newForecasts(o ForecastOptions) *forecasts {
	if o.Runs == 0 {
		return nil
	}
	return &forecasts{forecast.NewHistory(), forecast.NewChecks()}
}

// kindOf is which others a workload is similar to.
func kindOf(w *model.Workload) forecast.Kind {
	return forecast.Kind{Queue: w.Queue, Principal: w.Principal}
}

// follow takes note of what has started and ended. Nil takes note of nothing.
func (f *forecasts) follow(now time.Time, before, after *store.Workload) {
	if f == nil {
		return
	}
	if before != nil && after != nil && before.CreateIndex != after.CreateIndex {
		f.checks.Gone(before.Info.ID) // another workload of the same ID
		before = nil
	}
	had, has := before.TakesRoomOn() != "", after.TakesRoomOn() != ""
	switch {
	case !had && has:
		f.checks.Started(after.Info.ID, now)
	case after == nil || after.Phase == model.Finished:
		if before != nil && (before.Phase == model.Bound || before.Phase == model.Confirmed) {
			f.ended(now, before)
		}
		f.checks.Gone(cmp.Or(after, before).Info.ID)
	}
}

// ended takes note of a workload that ran and was not terminating.
func (f *forecasts) ended(now time.Time, row *store.Workload) {
	if limit := row.Info.RunLimit(); limit > 0 && !row.Info.PlacedAt.IsZero() {
		f.history.Note(kindOf(row.Info.Workload), now.Sub(row.Info.PlacedAt), limit)
	}
}

// state is what a replay needs to forecast the same; nil where there are no forecasts.
func (f *forecasts) state() *forecast.State {
	if f == nil {
		return nil
	}
	return f.history.State()
}

// resume goes on from a state. One of an engine without forecasts remembers nothing.
func (f *forecasts) resume(s *forecast.State) {
	if f != nil && s != nil {
		f.history.Resume(s)
	}
}
