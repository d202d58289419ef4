package server

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Output in a task's own folder would be lost with it: it is refused, whichever way the
// folder is meant. What else is in that folder by default stays there.
func TestOutputInOwnFolder(t *testing.T) {
	t.Parallel()
	f := begun(t)
	c := f.as(alice)
	for _, dir := range []string{"", job.OwnDir} {
		e := c.refused(http.StatusBadRequest, "POST", "/v1/jobs", api.SubmitRequest{Jobs: []job.Spec{
			{Command: []string{"true"}, Dir: dir, Output: "out-%j.txt", Error: "/var/log/x"},
		}})
		require.Equal(t, []api.Problem{{Field: "jobs[0].output", Message: `"out-%j.txt" would be in the task's own folder, ` +
			`which is removed with the task: write a path that begins with "/", or a working directory (dir)`}}, e.Problems)
		id := c.submit(job.Spec{Command: []string{"true"}, Dir: dir, Hold: true})[0]
		var j api.JobDetail
		c.must("GET", jobPath(id, ""), nil, &j)
		require.Empty(t, j.Spec.Dir)
	}
	c.submit(job.Spec{Command: []string{"true"}, Dir: "/data", Output: "out-%j.txt", Hold: true})
}

// All that is wrong with a submission is told at once, with the names of the fields, and nothing
// of it is taken.
func TestAllIsToldAtOnce(t *testing.T) {
	t.Parallel()
	f := begun(t)
	c := f.as(alice)
	e := c.refused(http.StatusBadRequest, "POST", "/v1/jobs", `{"jobs": [{"command": ["true"]}, {"command": ["true"], "nmae": "a",
		"timeLimit": "1x", "tasks": -1, "array": "0-9"}], "chek": true}`)
	fields := map[string]string{}
	for _, p := range e.Problems {
		fields[p.Field] = p.Message
	}
	require.Len(t, fields, 4, "%+v", e.Problems)
	require.Equal(t, "there is no such field", fields["jobs[1].nmae"])
	require.Contains(t, fields["jobs[1].timeLimit"], `"1x" is no duration`)
	require.Equal(t, "-1 is not between 0 and 10000", fields["jobs[1].tasks"])
	require.Equal(t, "there is no such field", fields["chek"])
	var list api.JobList
	c.must("GET", "/v1/jobs", nil, &list)
	require.Empty(t, list.Jobs)
	for _, body := range []string{`{"jobs": [`, `[1]`, `{"jobs": []} {}`, `jobs: []`} {
		c.refused(http.StatusBadRequest, "POST", "/v1/jobs", body)
	}
}

// A job without a limit is another thing than one that leaves it to the queue.
func TestNoTimeLimit(t *testing.T) {
	t.Parallel()
	f := begun(t)
	c, op := f.as(alice), f.as(oscar)
	hour := job.Duration(time.Hour)
	op.must("PUT", "/v1/queues/usual", api.Queue{Name: "usual", DefaultTime: hour}, nil)
	op.must("PUT", "/v1/queues/short", api.Queue{Name: "short", DefaultTime: hour, MaxTime: 2 * hour}, nil)
	limit := func(s job.Spec) job.Duration {
		s.Command, s.Hold = []string{"true"}, true
		var j api.JobDetail
		c.must("GET", jobPath(c.submit(s)[0], ""), nil, &j)
		return j.Spec.TimeLimit
	}
	require.Equal(t, hour, limit(job.Spec{Queue: "usual"}))
	require.Zero(t, limit(job.Spec{Queue: "usual", TimeLimit: job.NoTimeLimit}))
	require.Equal(t, hour, limit(job.Spec{Queue: "short"}))
	c.refused(http.StatusBadRequest, "POST", "/v1/jobs", api.SubmitRequest{Jobs: []job.Spec{
		{Command: []string{"true"}, Queue: "short", TimeLimit: job.NoTimeLimit}}})
}

// A job that was cancelled says why.
func TestCancelReason(t *testing.T) {
	t.Parallel()
	f := begun(t)
	c := f.as(alice)
	id := c.submit(sleeper())[0]
	c.must("POST", jobPath(id, "/cancel"), api.Selection{Reason: "wrong input"}, nil)
	var j api.JobDetail
	c.must("GET", jobPath(id, ""), nil, &j)
	require.Equal(t, job.Cancelled, j.State)
	require.Equal(t, "wrong input", j.Message)

	spec := sleeper()
	spec.Hold, spec.Begin = false, time.Time{}
	spec.After, spec.KillOnInvalidDep = []job.Dependency{{Kind: job.AfterOK, Job: id.String()}}, true
	next := c.submit(spec)[0]
	eventually(t, func() bool {
		c.must("GET", jobPath(next, ""), nil, &j)
		return j.State == job.Cancelled
	})
	require.Equal(t, "job "+id.String()+" is CANCELLED, so afterok:"+id.String()+" can never be met", j.Message)
}

// A key that was used for something else is answered with that, and a warning.
func TestKeyOfSomethingElse(t *testing.T) {
	t.Parallel()
	f := begun(t)
	c := f.as(alice)
	submit := func(key string, specs ...job.Spec) (out api.SubmitResponse) {
		c.must("POST", "/v1/jobs", api.SubmitRequest{Jobs: specs, Key: key}, &out)
		return out
	}
	spec := func(name string) job.Spec {
		return job.Spec{Name: name, Command: []string{"true"}, Hold: true, Env: map[string]string{}}
	}
	after := spec("b")
	after.After = []job.Dependency{{Kind: job.AfterOK, Job: "@a"}}
	for key, specs := range map[string][]job.Spec{"one": {spec("a")}, "two": {spec("a"), after}} {
		first := submit(key, specs...)
		again := submit(key, specs...)
		require.True(t, again.Repeated)
		require.Equal(t, first.Jobs, again.Jobs)
		require.Equal(t, first.Warnings, again.Warnings, "it is the same")
		for _, other := range [][]job.Spec{{spec("c")}, {spec("a"), after, spec("c")}} {
			again := submit(key, other...)
			require.Equal(t, first.Jobs, again.Jobs)
			require.Contains(t, again.Warnings, `the key "`+key+`" was used before for something else, and that is the answer: nothing was submitted now`)
		}
	}
}

// A job that should have ended already is refused, unless it was submitted in time.
func TestDeadlineThatHasPassed(t *testing.T) {
	t.Parallel()
	f := begun(t)
	c := f.as(alice)
	spec := job.Spec{Command: []string{"true"}, Hold: true, Deadline: time.Now().Add(-time.Minute).UTC().Truncate(time.Second)}
	for _, check := range []bool{true, false} {
		e := c.refused(http.StatusBadRequest, "POST", "/v1/jobs", api.SubmitRequest{Check: check, Jobs: []job.Spec{{Command: []string{"true"}}, spec}})
		require.Equal(t, []api.Problem{{Field: "jobs[1].deadline", Message: "it has passed: " + spec.Deadline.Format(time.RFC3339)}}, e.Problems)
	}
	in := api.SubmitRequest{Key: "k", Jobs: []job.Spec{{Command: []string{"true"}, Hold: true}}}
	var first, again api.SubmitResponse
	c.must("POST", "/v1/jobs", in, &first)
	in.Jobs[0].Deadline = spec.Deadline // as if it had passed since
	c.must("POST", "/v1/jobs", in, &again)
	require.True(t, again.Repeated)
	require.Equal(t, first.Jobs, again.Jobs)
}
