package state_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// applied applies a command at the time, and says what was changed.
func applied(t *testing.T, s *state.State, at time.Time, c *state.Command) state.Result {
	c.At, c.By = at, "oscar"
	text, err := c.Encode()
	require.NoError(t, err)
	return s.Apply(s.View().Index()+1, 1, [][]byte{text})[0].(state.Result)
}

// All that is wrong is said at once, and nothing is recorded.
func TestCheckReservation(t *testing.T) {
	from := time.Unix(1_000_000, 0).UTC()
	good := api.Reservation{Name: "r", Nodes: []string{"n1"}, From: from, To: from.Add(time.Hour)}
	for name, test := range map[string]struct {
		change func(*api.Reservation)
		want   string
	}{
		"nothing wrong": {func(*api.Reservation) {}, ""},
		"everything of nothing": {func(r *api.Reservation) { *r = api.Reservation{} }, "name: must not be empty\n" +
			"nodes: there are neither nodes nor constraints that select them\nfrom: it is in the year 1\nto: it is not after from"},
		"nodes and constraints": {func(r *api.Reservation) { r.Constraints = []job.Constraint{{Label: "a b"}} }, "constraints: there are nodes, too; write the ones or the others\n" +
			`constraints[0].label: "a b" may only have letters, digits, and any of "_-./"`},
		"names": {func(r *api.Reservation) { r.Name, r.Nodes, r.Users = "a@b", []string{"n1", "n 2"}, []string{""} }, `name: "a@b" may only have letters, digits, and any of "_-."` + "\n" +
			`nodes[1]: "n 2" may only have letters, digits, and any of "_-."` + "\nusers[0]: must not be empty"},
		"longer than the pause": {func(r *api.Reservation) { r.To, r.Repeat = from.Add(25*time.Hour), api.RepeatDaily }, "to: it is after the next one begins, which comes daily"},
		"for ever":              {func(r *api.Reservation) { r.To = from.AddDate(11, 0, 0) }, "to: it is more than ten years after from"},
		"some of the nodes":     {func(r *api.Reservation) { r.Keep = &api.Amounts{CPU: new(job.MilliCPU(500))} }, ""},
		"GPUs of the nodes": {func(r *api.Reservation) {
			r.Keep = &api.Amounts{GPUs: new(int64(1)), Other: map[string]int64{"tape": -1}}
		},
			"keep.other.tape: -1 is not an amount\nkeep.gpus: GPUs cannot be set aside by their number; set nodes aside"},
		"nothing of the nodes": {func(r *api.Reservation) { r.Keep = &api.Amounts{CPU: new(job.MilliCPU)} }, "keep: it is nothing; leave it out to set the nodes aside"},
		"texts": {func(r *api.Reservation) {
			r.Repeat, r.Zone, r.Reason = "hourly", strings.Repeat("z", 65), strings.Repeat("r", 257)
		}, `repeat: "hourly" is neither daily nor weekly` + "\nzone: it is longer than 64 characters\nreason: it is longer than 256 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			r := good
			test.change(&r)
			var got []string
			for _, p := range state.CheckReservation(&r) {
				got = append(got, p.Field+": "+p.Message)
			}
			require.Equal(t, test.want, strings.Join(got, "\n"))
			s := state.New(nil)
			result := applied(t, s, from, &state.Command{AddReservation: &r})
			require.Equal(t, test.want == "", result.Err == nil)
			require.Equal(t, test.want == "", s.View().Reservation(r.Name) != nil)
		})
	}
}

// A reservation is not replaced, its jobs are told of it, and it is forgotten a day after
// it was over.
func TestReservationsComeAndGo(t *testing.T) {
	var last state.Changed
	s := state.New(func(ch state.Changed) { last = ch })
	now := time.Unix(1_000_000, 0).UTC()
	r := &api.Reservation{Name: "r", Nodes: []string{"n1"}, From: now, To: now.Add(time.Hour), Users: []string{"ann"}, By: "eve"}
	require.Nil(t, applied(t, s, now, &state.Command{AddReservation: r}).Err)
	require.True(t, last.Reservations)
	require.Equal(t, "oscar", s.View().Reservation("r").By)
	require.Equal(t, now, s.View().Reservation("r").Created)
	require.Equal(t, api.CodeConflict, applied(t, s, now, &state.Command{AddReservation: r}).Err.Code)

	spec := job.Spec{Command: []string{"x"}, Reservation: "r"}
	id := applied(t, s, now, &state.Command{Submit: &state.Submit{Specs: []job.Spec{spec.WithDefaults()}, Owner: "ann"}}).Jobs[0]
	waits := func(at time.Time) state.Wait { v := s.View(); return v.Waits(v.Job(id), at) }
	before := waits(now.Add(-time.Second))
	require.Equal(t, state.Wait{Reason: job.ReasonReservation, Message: "reservation r begins at 1970-01-12T13:46:40Z", Until: now}, before)
	at := waits(now)
	require.True(t, at.None())
	require.Equal(t, "reservation r is over since 1970-01-12T14:46:40Z", waits(r.To).Message)

	require.Equal(t, api.CodeNotFound, applied(t, s, now, &state.Command{RemoveReservation: "other"}).Err.Code)
	purge := &state.Command{Purge: &state.Purge{Before: now}}
	applied(t, s, r.To.Add(24*time.Hour), purge)
	require.NotNil(t, s.View().Reservation("r"))
	applied(t, s, r.To.Add(24*time.Hour+time.Second), purge)
	require.Nil(t, s.View().Reservation("r"))
	require.True(t, last.Reservations)
	require.Contains(t, last.Jobs, id)
	require.Equal(t, job.ReasonReservation, waits(now).Reason, "it waits for one of the name")
}
