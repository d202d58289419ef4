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
	t.Parallel()
	f := begun(t)
	c, node := f.as(alice), f.agent("n1")
	limited := job.Spec{
		Command: []string{"sleep", "1"}, Resources: job.Resources{CPU: 4000}, TimeLimit: job.Duration(time.Hour),
	}
	node.order(c.submit(limited)[0])
	id := c.submit(limited)[0]
	// The first runs for its limit from when it is bound, which the scheduler may learn
	// after the node: until then the plan still has the time of the decision.
	var j api.JobDetail
	var list api.JobList
	var x api.Explanation
	eventually(t, func() bool {
		c.must("GET", jobPath(id, ""), nil, &j)
		c.must("GET", "/v1/jobs?state=PENDING", nil, &list)
		c.must("GET", jobPath(id, "/explain"), nil, &x)
		return !j.ExpectedStart.IsZero() && len(list.Jobs) == 1 &&
			j.ExpectedStart.Equal(list.Jobs[0].ExpectedStart) && j.ExpectedStart.Equal(x.ExpectedStart)
	})
	require.Greater(t, time.Until(j.ExpectedStart), 50*time.Minute)
	require.Equal(t, []string{"n1"}, j.ExpectedNodes)
	require.Equal(t, j.ExpectedNodes, x.ExpectedNodes)
}
