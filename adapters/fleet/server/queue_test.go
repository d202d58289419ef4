package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// A job that names no time limit and no memory gets what its queue says, and shows it.
func TestQueueDefaults(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a, op := f.as(alice), f.as(oscar)
	op.must("PUT", "/v1/queues/night", api.Queue{
		Name: "night", DefaultTime: job.Duration(time.Hour), MaxTime: job.Duration(2 * time.Hour), DefaultMemoryPerCPU: 2 << 30,
	}, nil)
	spec := func(cpu job.MilliCPU, memory job.Bytes, limit time.Duration, queue string) job.Spec {
		return job.Spec{
			Command: []string{"true"}, Queue: queue, TimeLimit: job.Duration(limit), Hold: true,
			Resources: job.Resources{CPU: cpu, Memory: memory},
		}
	}
	for _, c := range []struct {
		name   string
		spec   job.Spec
		memory job.Bytes
		limit  time.Duration
	}{
		{"nothing named", spec(0, 0, 0, "night"), 2 << 30, time.Hour},
		{"by the core", spec(3500, 0, 0, "night"), 7 << 30, time.Hour},
		{"less than a byte is one", spec(1, 0, 0, "night"), 2<<30/1000 + 1, time.Hour},
		{"all named", spec(4000, 1<<20, time.Minute, "night"), 1 << 20, time.Minute},
		{"a queue without defaults", spec(4000, 0, 0, ""), 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var j api.JobDetail
			a.must("GET", jobPath(a.submit(c.spec)[0], ""), nil, &j)
			require.Equal(t, c.memory, j.Spec.Resources.Memory)
			require.Equal(t, job.Duration(c.limit), j.Spec.TimeLimit)
		})
	}
	var list api.QueueList
	a.must("GET", "/v1/queues", nil, &list)
	require.EqualValues(t, 2<<30, list.Queues[1].DefaultMemoryPerCPU)
}

// Settings of a queue that could not work are refused, and the field is named.
func TestQueueSettingsAreChecked(t *testing.T) {
	t.Parallel()
	op := begun(t).as(oscar)
	for field, q := range map[string]api.Queue{
		"defaultTime":         {DefaultTime: job.Duration(2 * time.Hour), MaxTime: job.Duration(time.Hour)},
		"defaultMemoryPerCPU": {DefaultMemoryPerCPU: 1<<40 + 1},
		"maxStored":           {MaxStored: 1<<30 + 1},
	} {
		q.Name = "night"
		e := op.refused(http.StatusBadRequest, "PUT", "/v1/queues/night", q)
		require.Equal(t, field, e.Problems[0].Field)
	}
	op.must("PUT", "/v1/queues/night", api.Queue{Name: "night", DefaultTime: job.Duration(time.Hour), MaxStored: 1 << 30, DefaultMemoryPerCPU: 1 << 40}, nil)
}

// A check says of queues what the submission would: who may use one, and how much of it.
func TestCheckLooksAtQueues(t *testing.T) {
	t.Parallel()
	f := begun(t)
	op, a := f.as(oscar), f.as(alice)
	op.must("PUT", "/v1/queues/closed", api.Queue{Name: "closed", Users: []string{"bob"}}, nil)
	op.must("PUT", "/v1/queues/small", api.Queue{Name: "small", MaxQueued: 2}, nil)
	for _, c := range []struct {
		queue  string
		tasks  int32
		status int
		says   string
	}{
		{"closed", 1, http.StatusForbidden, `jobs[0].queue: user "alice" may not use queue "closed"`},
		{"small", 3, http.StatusConflict, `user "alice" would have 3 jobs in queue "small", a gang counted by its tasks, and 2 are allowed; wait until some have ended`},
	} {
		for _, check := range []bool{true, false} {
			e := a.refused(c.status, "POST", "/v1/jobs", api.SubmitRequest{Check: check, Jobs: []job.Spec{{Command: []string{"true"}, Queue: c.queue, Tasks: c.tasks}}})
			require.Equal(t, c.says, e.Message, "check: %v", check)
		}
	}
	taken := api.SubmitRequest{Key: "k", Jobs: []job.Spec{{Command: []string{"true"}, Queue: "small", Tasks: 2}}}
	a.must("POST", "/v1/jobs", taken, nil)
	taken.Check = true
	a.must("POST", "/v1/jobs", taken, nil) // it is there already
	require.Len(t, slices.Collect(f.server.state.View().Jobs()), 1)
}

// What is stored of a user's jobs has a limit, which a queue may raise.
func TestStoredLimit(t *testing.T) {
	t.Parallel()
	f := begun(t, func(c *Config) { c.Limits.Burst = 1000 })
	a, op := f.as(alice), f.as(oscar)
	sparse, err := job.ParseArray("0-1023999:1024") // a thousand elements, each in a chunk of its own
	require.NoError(t, err)
	const arrays = 60
	a.submit(slices.Repeat([]job.Spec{{Command: []string{"true"}, Array: sparse, Hold: true}}, arrays)...)
	script := func(i int) api.SubmitRequest {
		return api.SubmitRequest{Key: fmt.Sprint(i), Jobs: []job.Spec{{Script: "#!/bin/sh\n" + strings.Repeat("#", 250_000), Hold: true}}}
	}
	taken := 0
	for ; a.ask("POST", "/v1/jobs", script(taken)).status == http.StatusOK; taken++ {
		require.Less(t, taken, 1000)
	}
	require.InDelta(t, (64<<20-arrays*1000*1024)/250_000, taken, 1)
	e := a.refused(http.StatusConflict, "POST", "/v1/jobs", script(taken))
	require.Regexp(t, `the servers store 6\d\.\d MiB of the jobs of user "alice", this would be 0\.2 MiB more, and 64\.0 MiB are allowed;.* maxStored of a queue`, e.Message)
	check := script(taken)
	check.Check = true
	a.refused(http.StatusConflict, "POST", "/v1/jobs", check)
	a.must("POST", "/v1/jobs", script(0), nil) // it has been taken, and is asked for again
	op.submit(job.Spec{Command: []string{"true"}})
	op.must("PUT", "/v1/queues/large", api.Queue{Name: "large", MaxStored: 100 << 20}, nil)
	a.must("POST", "/v1/jobs", script(taken), nil)
}
