package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// likely says when something that waits will probably start; empty where no forecasts are made.
func (a *app) likely(f *api.Forecast) string {
	if f == nil {
		return ""
	}
	p50, p90 := a.quantile(f, f.P50), a.quantile(f, f.P90)
	switch {
	case f.P50.IsZero():
		return p50
	case p50 == p90:
		return fmt.Sprintf("by %s (P50 and P90)", p50)
	}
	return fmt.Sprintf("by %s (P50), %s (P90)", p50, p90)
}

// quantile is one of the times of a forecast.
func (a *app) quantile(f *api.Forecast, at time.Time) string {
	switch {
	case f.At.IsZero():
		return "not evaluated"
	case at.IsZero():
		return "not foreseen"
	}
	return a.stamp(at)
}

// cameTrue says how often forecasts have come true.
func cameTrue(c *api.Calibration) string {
	if c == nil || c.Starts == 0 {
		return ""
	}
	return fmt.Sprintf("of %d starts %d were by the P50, %d by the P90", c.Starts, c.ByP50, c.ByP90)
}

// forecasts are the cells of jobs for the columns of forecasts, nil where none are made.
func (a *app) forecasts(jobs []api.Job) (cells [][]string) {
	if !slices.ContainsFunc(jobs, func(j api.Job) bool { return j.Forecast != nil }) {
		return nil
	}
	for i := range jobs {
		row := []string{"-", "-"}
		if f := jobs[i].Forecast; f != nil {
			row = []string{a.quantile(f, f.P50), a.quantile(f, f.P90)}
		}
		cells = append(cells, row)
	}
	return cells
}
