package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Of a job that room is kept for the list, the job and its explanation say when and
// where it starts.
func TestExpectedStart(t *testing.T) {
	f := begun(t)
	c, _ := f.as(alice), f.agent("n1")
	limited := job.Spec{
		Command: []string{"sleep", "1"}, Resources: job.Resources{CPU: 4000}, TimeLimit: job.Duration(time.Hour),
	}
	c.submit(limited)
	id := c.submit(limited)[0]
	var j api.JobDetail
	eventually(t, func() bool {
		c.must("GET", jobPath(id, ""), nil, &j)
		return !j.ExpectedStart.IsZero()
	})
	require.Greater(t, time.Until(j.ExpectedStart), 50*time.Minute)
	require.Equal(t, []string{"n1"}, j.ExpectedNodes)
	var list api.JobList
	c.must("GET", "/v1/jobs?state=PENDING", nil, &list)
	require.Equal(t, j.ExpectedStart, list.Jobs[0].ExpectedStart)
	var x api.Explanation
	c.must("GET", jobPath(id, "/explain"), nil, &x)
	require.Equal(t, j.ExpectedStart, x.ExpectedStart)
	require.Equal(t, j.ExpectedNodes, x.ExpectedNodes)
}
