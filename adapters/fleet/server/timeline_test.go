package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// The timeline has what runs until when, what is set aside and what was promised. Users
// see numbers of their own jobs.
func TestTimeline(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a, b, op := f.as(alice), f.as(bob), f.as(oscar)
	f.agent("n1")
	var n api.Node
	op.must("GET", "/v1/nodes/n1", nil, &n)
	limit := job.Duration(30 * time.Minute)
	first := a.submit(job.Spec{Command: []string{"x"}, Resources: job.Resources{CPU: n.Machine.CPU - 1000}, TimeLimit: limit})[0]
	endless := b.submit(job.Spec{Command: []string{"x"}, Resources: job.Resources{CPU: 1000}})[0]
	eventually(t, func() bool { return len(activeTasks(f)) == 2 })
	next := a.submit(job.Spec{Command: []string{"x"}, Resources: job.Resources{CPU: 2000}, TimeLimit: limit})[0]
	from := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	op.must("POST", "/v1/reservations", api.Reservation{Name: "course", Nodes: []string{"n1", "n9"}, From: from, To: from.Add(time.Hour), Repeat: api.RepeatWeekly}, nil)

	var line api.Timeline
	eventually(t, func() bool {
		time.Sleep(50 * time.Millisecond)
		a.must("GET", "/v1/timeline", nil, &line)
		return len(line.Promises) == 1
	})
	require.Len(t, line.Nodes, 1)
	busy := line.Nodes[0].Busy
	require.Len(t, busy, 2)
	require.Equal(t, []job.ID{first}, busy[0].Jobs)
	require.Equal(t, n.Machine.CPU-1000, busy[0].CPU)
	require.WithinDuration(t, time.Now().Add(31*time.Minute), busy[0].Until, 90*time.Second)
	require.Zero(t, busy[0].Until.Second())
	require.Empty(t, busy[1].Jobs, "not hers")
	require.True(t, busy[1].Until.IsZero(), "without a limit")
	require.Len(t, line.Reservations, 4, "within four weeks")
	require.Equal(t, []string{"n1"}, line.Reservations[0].Nodes)
	require.Equal(t, from, line.Reservations[0].From)
	require.Equal(t, next, line.Promises[0].Job)
	require.Equal(t, []string{"n1"}, line.Promises[0].Nodes)
	require.Equal(t, line.Promises[0].From.Add(30*time.Minute+35*time.Second), line.Promises[0].To)

	line = api.Timeline{}
	b.must("GET", "/v1/timeline", nil, &line)
	require.Empty(t, line.Promises)
	require.Equal(t, []job.ID{endless}, line.Nodes[0].Busy[1].Jobs)
	require.Empty(t, line.Nodes[0].Busy[0].Jobs)
}
