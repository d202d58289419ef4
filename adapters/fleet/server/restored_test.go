package server

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// After a backup was restored agents get their orders again, and no number of a job or
// an attempt is given out a second time: agents would take the new one for the old.
func TestRestored(t *testing.T) {
	f := begun(t)
	a, op, node := f.as(alice), f.as(oscar), f.agent("n1")
	runs := a.submit(job.Spec{Command: []string{"true"}})[0]
	o := node.order(runs)
	require.False(t, o.Restored)
	waits := a.submit(job.Spec{Command: []string{"true"}, Hold: true})[0]
	backup := op.ask("GET", "/v1/server/backup", nil)
	require.Equal(t, 200, backup.status)
	after := a.submit(sleeper())[0]
	a.must("POST", jobPath(waits, "/release"), nil, nil)
	later := node.order(waits)
	require.EqualValues(t, 1, later.Task.Attempt)
	node.report(o.Task, job.Running)
	node.report(o.Task, job.Completed)

	for name, bad := range map[string][]byte{
		"nothing": nil, "cut": backup.body[:len(backup.body)-1], "more": append(bytes.Clone(backup.body), 0),
		"altered": bytes.Replace(backup.body, []byte("alice"), []byte("malic"), 1),
	} {
		got := op.ask("POST", "/v1/server/restore", bad)
		require.Equal(t, 400, got.status, "%s: %s", name, got.body)
	}
	op.must("POST", "/v1/server/restore", backup.body, nil)
	eventually(t, func() bool { return f.server.leading.Load() != nil })
	a.refused(http.StatusNotFound, "GET", jobPath(after, ""), nil)
	again := node.order(runs)
	require.Equal(t, o.Task, again.Task, "the order comes again, though it had been heard")
	require.True(t, again.Restored, "it may have run, and been forgotten")
	require.Equal(t, []job.TaskID{o.Task}, node.seen.Tasks, "what began after the backup is to be ended")
	node.report(o.Task, job.Completed)
	var j api.Job
	a.must("GET", jobPath(runs, ""), nil, &j)
	require.Equal(t, job.Completed, j.State)
	require.Greater(t, a.submit(sleeper())[0], after)
	a.must("POST", jobPath(waits, "/release"), nil, nil)
	anew := node.order(waits)
	require.Greater(t, anew.Task.Attempt, later.Task.Attempt, "its first attempt has been seen")
	require.False(t, anew.Restored)
}
