package server

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
)

// Two machines with one name, both with good certificates: the second is refused while
// the first is heard of, and ends nothing of what that runs.
func TestTwoMachinesOfOneName(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a, first := f.as(alice), f.agent("n1")
	id := a.submit(job.Spec{Command: []string{"true"}})[0]
	o := first.order(id)
	first.report(o.Task, job.Running)

	second := &agent{caller: f.as(nodeN1), name: "n1", boot: "of another machine"}
	elsewhere := first.registration()
	elsewhere.Address = "127.0.0.1:2"
	for name, r := range map[string]api.Registration{"another machine": second.registration(), "another agent of the machine": elsewhere} {
		e := second.refused(http.StatusConflict, "POST", "/v1/agent/register", r)
		require.Equal(t, api.CodeConflict, e.Code, name)
		require.Contains(t, e.Message, "give this machine another name")
		require.Contains(t, e.Message, "127.0.0.1:1", "where the other is")
	}
	var j api.Job
	a.must("GET", jobPath(id, ""), nil, &j)
	require.Equal(t, job.Running, j.State)
	// The first goes on, and may say again what it is, for example after it was upgraded.
	first.must("POST", "/v1/agent/register", first.registration(), nil)
	first.report(o.Task, job.Completed)
}

// When the first is not heard of any more the second is let in: neither that it asks to
// be, nor that it polls, is taken for a sign of the first's life.
func TestMachineStartedAnew(t *testing.T) {
	t.Parallel()
	f := begun(t, func(c *Config) {
		c.Times = scheduler.Times{Heartbeat: 50 * time.Millisecond, Unreachable: 200 * time.Millisecond}
	})
	a, n := f.as(alice), f.agent("n1")
	id := a.submit(job.Spec{Command: []string{"true"}})[0]
	o := n.order(id)
	n.boot = "2"
	eventually(t, func() bool {
		var out api.PollResponse
		n.must("POST", "/v1/agent/poll", api.PollRequest{Node: "n1", Boot: n.boot}, &out)
		require.True(t, out.Unregistered)
		return n.ask("POST", "/v1/agent/register", n.registration()).status == http.StatusOK
	})
	n.seen = api.PollResponse{}
	again := n.order(id)
	require.Greater(t, again.Task.Attempt, o.Task.Attempt, "what ran before is lost, and tried again")
}

// A state that there is not is refused: a list without jobs would be taken for an answer.
func TestStatesOfLists(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a := f.as(alice)
	a.submit(sleeper())
	var list api.JobList
	a.must("GET", "/v1/jobs?state=pending,RUNNING", nil, &list)
	require.Len(t, list.Jobs, 1)
	e := a.refused(http.StatusBadRequest, "GET", "/v1/jobs?state=PENDING,FALED", nil)
	require.Contains(t, e.Problems[0].Message, `"FALED" is no state of a job, it is one of PENDING, STARTING`)
}

// The only server stays.
func TestTheOnlyServerStays(t *testing.T) {
	t.Parallel()
	f := begun(t)
	e := f.as(oscar).refused(http.StatusConflict, "DELETE", "/v1/server/members/s1", nil)
	require.Equal(t, "s1 is the only server: without it there is no fleet; let another one join first", e.Message)
	f.as(oscar).refused(http.StatusNotFound, "DELETE", "/v1/server/members/s2", nil)
	e = f.with(nil).refused(http.StatusUnauthorized, "GET", "/v1/self", nil)
	require.Equal(t, errNothingShown.Message, e.Message)
}
