package server

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// never reports that a task could not be started.
func (a *agent) never(id job.TaskID, s job.State, code int, message string) {
	a.f.t.Helper()
	r := api.Report{Task: id, State: s, At: time.Now().UTC(), Message: message}
	if code != 0 {
		r.Exit = &api.Exit{Code: code}
	}
	a.must("POST", "/v1/agent/report", api.ReportRequest{Node: a.name, Tasks: []api.Report{r}}, nil)
}

const noProgram = "program nosuchprog: it is in no folder of PATH=/bin"

// A user's mistake is said wherever she looks, and its exit code is there.
func TestMistakesAreShown(t *testing.T) {
	t.Parallel()
	f := begun(t)
	node, a := f.agent("n1"), f.as(alice)
	id := a.submit(job.Spec{Command: []string{"nosuchprog"}, Retry: job.Retry{Limit: 3}})[0]
	node.never(node.order(id).Task, job.Failed, 127, noProgram)
	second := node.order(id)
	require.EqualValues(t, 1, second.Run.Try, "nothing of it has run, so its output is written anew")
	node.never(second.Task, job.Failed, 127, noProgram)

	var list api.JobList
	a.must("GET", "/v1/jobs", nil, &list)
	require.Equal(t, job.Failed, list.Jobs[0].State)
	require.Equal(t, noProgram, list.Jobs[0].Message)
	var j api.JobDetail
	a.must("GET", jobPath(id, ""), nil, &j)
	require.Equal(t, noProgram, j.Message)
	require.Len(t, j.Attempts, 2, "there is no other node")
	require.Equal(t, 127, j.Attempts[0].Exit.Code)
	require.Len(t, j.Failures, 1)
	var x api.Explanation
	a.must("GET", jobPath(id, "/explain"), nil, &x)
	require.Equal(t, noProgram, x.Message)
}

// One element of an array is shown by itself, whatever has become of it; and an
// explanation says where it is, or why it was ended.
func TestOneElement(t *testing.T) {
	t.Parallel()
	f := begun(t)
	node, a := f.agent("n1"), f.as(alice)
	id := a.submit(job.Spec{Command: []string{"x"}, Array: indexes(t, "3-5"), Resources: job.Resources{CPU: 4000}})[0]
	for range 2 {
		order := node.order(id).Task
		require.EqualValues(t, 3, order.Element)
		node.never(order, job.Failed, 127, noProgram)
	}
	node.order(id)
	a.must("POST", jobPath(id, "/cancel"), api.Selection{Elements: "5", Reason: "enough"}, nil)
	for element, want := range map[int]struct {
		state    job.State
		attempts int
		says     string
	}{3: {job.Failed, 2, noProgram}, 4: {job.Starting, 0, "it is on node n1"}, 5: {job.Cancelled, 0, "enough"}} {
		query := "?element=" + strconv.Itoa(element)
		var j api.JobDetail
		a.must("GET", jobPath(id, query), nil, &j)
		require.Len(t, j.Elements, 1)
		require.EqualValues(t, element, j.Elements[0].Index)
		require.Equal(t, want.state, j.Elements[0].State)
		require.Len(t, j.Attempts, want.attempts)
		var x api.Explanation
		a.must("GET", jobPath(id, "/explain"+query), nil, &x)
		require.Equal(t, want.says, x.Message, element)
	}
	a.refused(http.StatusNotFound, "GET", jobPath(id, "?element=6"), nil)
}

// What a node is at fault for is said while the job waits to be tried again, and when.
func TestBackoffIsShown(t *testing.T) {
	t.Parallel()
	f := begun(t)
	node, a := f.agent("n1"), f.as(alice)
	id := a.submit(job.Spec{Command: []string{"true"}})[0]
	node.never(node.order(id).Task, job.BootFail, 0, "data folder: no space left on device")

	const says = "n1: data folder: no space left on device"
	var list api.JobList
	a.must("GET", "/v1/jobs", nil, &list)
	var j api.JobDetail
	a.must("GET", jobPath(id, ""), nil, &j)
	var x api.Explanation
	a.must("GET", jobPath(id, "/explain"), nil, &x)
	e := f.server.state.View().Element(id, 0)
	require.False(t, e.Eligible.IsZero())
	require.Equal(t, []any{job.ReasonBackoff, says, e.Eligible}, []any{list.Jobs[0].Reason, list.Jobs[0].Message, list.Jobs[0].Eligible})
	require.Equal(t, []any{job.ReasonBackoff, says, e.Eligible}, []any{j.Reason, j.Message, j.Eligible})
	require.Equal(t, []any{job.ReasonBackoff, says, e.Eligible}, []any{j.Elements[0].Reason, j.Elements[0].Message, j.Elements[0].Eligible})
	require.Equal(t, []any{job.ReasonBackoff, says, e.Eligible}, []any{x.Reason, x.Message, x.Eligible})
}

// The same mistake of many elements is told once.
func TestMistakesOfAnArrayAreGrouped(t *testing.T) {
	t.Parallel()
	f := begun(t)
	node, a := f.agent("n1"), f.as(alice)
	whole := job.Resources{CPU: 4000} // one at a time
	id := a.submit(job.Spec{Command: []string{"nosuchprog"}, Array: indexes(t, "0-4"), Resources: whole})[0]
	for range 1 + 5 {
		node.never(node.order(id).Task, job.Failed, 127, noProgram)
	}
	var j api.JobDetail
	a.must("GET", jobPath(id, ""), nil, &j)
	require.Equal(t, job.Failed, j.State)
	require.Equal(t, "element 0: "+noProgram, j.Message)
	require.Len(t, j.Attempts, 1+5, "it was confirmed of the first")
	want := []api.Failure{{
		State: job.Failed, Exit: &api.Exit{Code: 127}, Message: noProgram, Attempts: 6, Elements: "0-4", Nodes: []string{"n1"},
	}}
	require.Equal(t, want, j.Failures)
	for _, at := range j.Attempts {
		require.Equal(t, 1, at.Failure)
	}
	var x api.Explanation
	a.must("GET", jobPath(id, "/explain"), nil, &x)
	require.Equal(t, want, x.Failures)
	x = api.Explanation{}
	a.must("GET", jobPath(id, "/explain?element=3"), nil, &x)
	require.Equal(t, noProgram, x.Message)
	require.Empty(t, x.Failures, "it has failed once")
}

// Attempts are grouped by how they ended and what was said of them. Those that ran have
// times and usage of their own, and are not.
func TestFailures(t *testing.T) {
	t.Parallel()
	rec := func(element int32, node string, s job.State, code int, message string) *state.Record {
		r := &state.Record{Element: element, Nodes: []string{node}, Outcome: state.Outcome{State: s, Message: message}}
		if code != 0 {
			r.Outcome.Exit = &api.Exit{Code: code}
		}
		return r
	}
	ran := rec(5, "n1", job.Failed, 127, "a")
	ran.Started = time.Unix(1, 0)
	list, place := failures(slices.Values([]*state.Record{
		rec(1, "n3", job.Failed, 127, "a"), rec(2, "n1", job.Failed, 127, "a"), rec(2, "n2", job.Failed, 127, "a"), rec(4, "n1", job.Failed, 127, "a"),
		rec(4, "n1", job.Failed, 126, "a"), rec(4, "n1", job.BootFail, 0, "a"), ran, ran, // of their own
		rec(5, "n1", job.BootFail, 0, "b"), rec(5, "n1", job.BootFail, 0, "b"),
		rec(6, "n1", job.Requeued, 0, "c"), rec(6, "n1", job.Requeued, 0, "c"), rec(7, "n1", job.Completed, 0, ""), rec(8, "n1", job.Cancelled, 0, "d"),
	}))
	require.Equal(t, []api.Failure{
		{State: job.Failed, Exit: &api.Exit{Code: 127}, Message: "a", Attempts: 4, Elements: "1-2,4", Nodes: []string{"n1", "n2", "n3"}},
		{State: job.BootFail, Message: "b", Attempts: 2, Elements: "5", Nodes: []string{"n1"}},
	}, list)
	require.Len(t, place, 2)

	// Many elements far apart, and many different words, do not make an answer of any size.
	var many []*state.Record
	for i := range int32(5000) {
		many = append(many, rec(2*i, "n1", job.BootFail, 0, "same"), rec(2*i, "n1", job.BootFail, 0, fmt.Sprint(i)), rec(2*i, "n1", job.BootFail, 0, fmt.Sprint(i)))
	}
	list, _ = failures(slices.Values(many))
	require.Len(t, list, api.MaxFailuresShown)
	require.Equal(t, 5000, list[0].Attempts)
	require.LessOrEqual(t, len(list[0].Elements), maxElements+len(",..."))
	require.True(t, strings.HasPrefix(list[0].Elements, "0,2,4,") && strings.HasSuffix(list[0].Elements, ",..."))
}
