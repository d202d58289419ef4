package server

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// After a backup was restored agents get their orders again, and no number of a job or
// an attempt is given out a second time: agents would take the new one for the old.
func TestRestored(t *testing.T) {
	t.Parallel()
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
	require.EqualValues(t, 1, anew.Run.Try, "of which the backup knows nothing")
	fresh := node.order(a.submit(job.Spec{Command: []string{"true"}})[0])
	require.EqualValues(t, 1, fresh.Task.Attempt)
	require.EqualValues(t, 1, fresh.Run.Try)
	require.False(t, anew.Restored)
}

// uploaded is a writer for an upload that takes its time.
type uploaded struct{ *httptest.ResponseRecorder }

func (uploaded) SetReadDeadline(time.Time) error { return nil }

// Agents get their orders again, too, where the operator has gone before the end.
func TestRestoredForNobody(t *testing.T) {
	t.Parallel()
	f := begun(t)
	a, op, node := f.as(alice), f.as(oscar), f.agent("n1")
	o := node.order(a.submit(job.Spec{Command: []string{"true"}})[0])
	backup := op.ask("GET", "/v1/server/backup", nil)
	require.Equal(t, 200, backup.status)
	after := a.submit(sleeper())[0]

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		for t.Context().Err() == nil && f.server.state.View().Job(after) != nil {
			runtime.Gosched()
		}
	}()
	in := httptest.NewRequestWithContext(ctx, "POST", "/v1/server/restore", bytes.NewReader(backup.body))
	_, err := f.server.restore(&request{Request: in, w: uploaded{httptest.NewRecorder()}, who: oscar})
	require.NoError(t, err)
	<-done
	require.Equal(t, o.Task, node.order(o.Task.Job).Task)
}

// A backup may take longer than other bodies to come, also through a server that hands
// it on.
func TestSlowUploadThroughAnother(t *testing.T) {
	t.Parallel()
	const limit = 300 * time.Millisecond
	f := begun(t, func(c *Config) { c.Slowness = 1 })
	cfg := f.config("s2")
	cfg.Slowness, cfg.Limits.Body = 1, limit
	cfg.Join = &Join{Servers: []string{f.server.Addr().String()}, Token: f.joinToken(api.RoleServer).Token}
	other, stop := f.start(cfg)
	t.Cleanup(stop)
	op := f.as(oscar)
	backup := op.ask("GET", "/v1/server/backup", nil)
	require.Equal(t, 200, backup.status)
	eventually(t, func() bool {
		_, known := other.leaderAddress()
		members, err := f.server.replica.Members()
		return known && err == nil && !slices.ContainsFunc(members, func(m memberOf) bool { return !m.Voter })
	})
	body, upload := io.Pipe()
	go func() {
		_, _ = upload.Write(backup.body[:100])
		time.Sleep(2 * limit) // it is what is tested
		_, err := upload.Write(backup.body[100:])
		upload.CloseWithError(err)
	}()
	r, err := http.NewRequestWithContext(t.Context(), "POST", "https://"+other.Addr().String()+"/v1/server/restore", body)
	require.NoError(t, err)
	got, err := op.http.Do(r)
	require.NoError(t, err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusNoContent, got.StatusCode, "%s", text)
}
