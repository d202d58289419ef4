package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Where forecasts are made, a job that waits has one in lists, by itself and in its explanation, be it that
// nothing was evaluated yet; one that has ended has none, and elsewhere none has.
func TestForecastIsShown(t *testing.T) {
	t.Parallel()
	for most, want := range map[int]*api.Forecast{0: nil, 10: {}} {
		f := begun(t, func(c *Config) { c.Forecasts = most })
		c := f.as(alice)
		spec := job.Spec{Command: []string{"true"}}
		id, ended := c.submit(spec)[0], c.submit(spec)[0]
		c.must("POST", jobPath(ended, "/cancel"), api.Selection{}, nil)
		var j, gone api.JobDetail
		var list api.JobList
		var x api.Explanation
		c.must("GET", jobPath(id, ""), nil, &j)
		c.must("GET", jobPath(ended, ""), nil, &gone)
		c.must("GET", "/v1/jobs?state=PENDING", nil, &list)
		c.must("GET", jobPath(id, "/explain"), nil, &x)
		require.Equal(t, want, j.Forecast, "%d", most)
		require.Equal(t, want, list.Jobs[0].Forecast, "%d", most)
		require.Equal(t, want, x.Forecast, "%d", most)
		require.Equal(t, want == nil, x.Calibration == nil, "%d", most)
		require.Equal(t, job.Cancelled, gone.State)
		require.Nil(t, gone.Forecast)
	}
}
