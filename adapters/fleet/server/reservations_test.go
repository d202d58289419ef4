package server

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Operators make reservations and delete them, everybody sees them, and whoever may not
// use one is told so at once.
func TestReservations(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a, op := f.as(alice), f.as(oscar)
	f.agent("n1").ran(a)
	from := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	course := api.Reservation{Name: "course", Nodes: []string{"n1", "n9"}, From: from, To: from.Add(2 * time.Hour), Users: []string{"alice"}}

	bad := course
	bad.Zone, bad.From, bad.To, bad.Nodes = "Mars/Olympus", from.AddDate(0, 0, -3), from.AddDate(0, 0, -2), nil
	e := op.refused(http.StatusBadRequest, "POST", "/v1/reservations", bad)
	var fields []string
	for _, p := range e.Problems {
		fields = append(fields, p.Field)
	}
	require.Equal(t, []string{"nodes", "zone", "to"}, fields, "all at once")

	var made api.ReservationResponse
	a.submit(job.Spec{Command: []string{"sleep", "1000"}}) // without a limit
	eventually(t, func() bool { return len(activeTasks(f)) == 1 })
	op.must("POST", "/v1/reservations", course, &made)
	require.Len(t, made.Warnings, 2)
	require.Equal(t, "there is no node n9 yet", made.Warnings[0])
	require.Contains(t, made.Warnings[1], "node n1 may still run tasks when it begins")
	op.refused(http.StatusConflict, "POST", "/v1/reservations", course)
	other := api.Reservation{Name: "daily", Constraints: []job.Constraint{{Label: "node", Values: []string{"n1"}}}, From: from.Add(-44 * time.Hour), To: from.Add(-43 * time.Hour), Repeat: api.RepeatDaily}
	op.must("POST", "/v1/reservations", other, &made)
	require.Len(t, made.Warnings, 1, "they do not overlap")
	require.Contains(t, made.Warnings[0], "may still run tasks")
	third := course
	third.Name, third.Nodes, third.From = "third", []string{"n1"}, from.Add(time.Hour)
	op.must("POST", "/v1/reservations", third, &made)
	require.Contains(t, made.Warnings[len(made.Warnings)-1], "on node n1 reservation course is at the same time")

	var submitted api.SubmitResponse
	a.must("POST", "/v1/jobs", `{"jobs":[{"command":["true"],"reservation":"course","timeLimit":"3h"}]}`, &submitted)
	require.Contains(t, submitted.Warnings[0], "it can never start in reservation course, which lasts 2h")
	for who, name := range map[*caller]string{f.as(bob): "course", a: "none"} {
		e := who.refused(http.StatusBadRequest, "POST", "/v1/jobs", `{"jobs":[{"command":["true"],"reservation":"`+name+`"}]}`)
		require.Equal(t, "jobs[0].reservation", e.Problems[0].Field)
	}
	var list api.ReservationList
	a.must("GET", "/v1/reservations", nil, &list)
	require.Len(t, list.Reservations, 3)
	require.Equal(t, "course", list.Reservations[0].Name)
	require.EqualValues(t, 1, list.Reservations[0].Waiting)
	require.Equal(t, from, list.Reservations[0].NextFrom)
	require.False(t, list.Reservations[0].Active)

	var j api.Job
	a.must("GET", jobPath(submitted.Jobs[0], ""), nil, &j)
	require.Equal(t, job.ReasonReservation, j.Reason)
	require.Equal(t, from, j.Eligible, "jobs --start shows it")
	op.must("DELETE", "/v1/reservations/course", nil, nil)
	a.must("GET", jobPath(submitted.Jobs[0], ""), nil, &j)
	require.Contains(t, j.Message, "there is no reservation course any more")
}

// activeTasks are the tasks that have a node.
func activeTasks(f *fleet) (ids []job.TaskID) {
	for k := range f.server.state.View().Tasks() {
		ids = append(ids, k.ID)
	}
	return ids
}
