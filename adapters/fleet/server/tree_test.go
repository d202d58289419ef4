package server

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Operators say what the tree of queues is, everybody sees it, all that is wrong is said at
// once, and a job that names no queue goes where its user's account says.
func TestTreeOfQueues(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a, op := f.as(alice), f.as(oscar)
	e := op.refused(http.StatusBadRequest, "PUT", "/v1/queues/q", `{"name":"q","maxQueued":-2,"priority":5000,"parent":"none","weight":-1,"guaranteed":{"cpu":"4"},"max":{"cpu":"2"}}`)
	var fields []string
	for _, p := range e.Problems {
		fields = append(fields, p.Field)
	}
	require.Equal(t, []string{"maxQueued", "priority", "parent", "weight", "max.cpu"}, fields)

	op.must("PUT", "/v1/queues/uni", `{"name":"uni","weight":3,"guaranteed":{"cpu":"4","memory":"8Gi","gpus":1,"other":{"licence":2}}}`, nil)
	op.must("PUT", "/v1/queues/lab", `{"name":"lab","parent":"uni","policy":"fifo"}`, nil)
	op.must("PUT", "/v1/accounts/lab", `{"name":"lab","queue":"lab"}`, nil)
	op.must("PUT", "/v1/users/alice", `{"name":"alice","account":"lab"}`, nil)
	op.must("PUT", "/v1/limits/m", `{"name":"m","account":"lab","running":0}`, nil)
	op.refused(http.StatusBadRequest, "PUT", "/v1/accounts/other", `{"name":"lab"}`)
	op.refused(http.StatusConflict, "DELETE", "/v1/queues/uni", nil)
	e = op.refused(http.StatusBadRequest, "PUT", "/v1/users/bob", `{"name":"bob","account":"none","queue":"none"}`)
	require.Len(t, e.Problems, 2)

	var queues api.QueueList
	a.must("GET", "/v1/queues", nil, &queues)
	uni := queues.Queues[len(queues.Queues)-1]
	require.Equal(t, "uni", uni.Name)
	require.EqualValues(t, 4000, *uni.Guaranteed.CPU)
	require.EqualValues(t, 2, uni.Guaranteed.Other["licence"])
	var limits api.LimitList
	a.must("GET", "/v1/limits", nil, &limits)
	require.Equal(t, "m", limits.Limits[0].Name)

	f.agent("n1")
	id := a.submit(job.Spec{Command: []string{"true"}, TimeLimit: job.Duration(time.Minute)})[0]
	var j api.Job
	eventually(t, func() bool { a.must("GET", jobPath(id, ""), nil, &j); return j.Reason == job.ReasonBadConstraints })
	require.Equal(t, "lab", j.Queue)
	require.Equal(t, "it asks for more than limit m ever allows", j.Message)
	op.must("DELETE", "/v1/limits/m", nil, nil)
	eventually(t, func() bool { a.must("GET", jobPath(id, ""), nil, &j); return j.State != job.Pending })
	require.Equal(t, "default", f.as(bob).queueOf(f.as(bob).submit(sleeper())[0]))
}

// queueOf is the queue of a job.
func (c *caller) queueOf(id job.ID) string {
	var j api.Job
	c.must("GET", fmt.Sprintf("/v1/jobs/%d", id), nil, &j)
	return j.Queue
}
