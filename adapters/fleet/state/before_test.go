package state_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// A queue that an older server has written reclaims nothing, in a log and in a picture: what is not said
// of one is not written.
func TestQueuesOfBefore(t *testing.T) {
	s := state.New(nil)
	const queue = `{"name":"physics","weight":3,"guaranteed":{"cpu":"6"}}`
	r := s.Apply(1, 1, [][]byte{[]byte(`{"at":"2026-01-30T15:04:05Z","putQueue":` + queue + `}`)})[0].(state.Result)
	require.Nil(t, r.Err)
	require.Contains(t, picture(t, s), `{"t":"queues","r":`+queue+`}`)
	for _, s := range []*state.State{s, restored(t, s)} {
		require.False(t, s.View().Queue("physics").Reclaims())
		require.True(t, s.View().ByQueues())
	}
}

// A queue is in the tree by each thing that is said of its place there, and that is kept.
func TestReclaimIsKept(t *testing.T) {
	for _, q := range []state.Queue{{Reclaim: api.ReclaimAny}, {MinRuntime: 1}, {Protected: 100}} {
		q.Name = "physics"
		s := state.New(nil)
		require.Nil(t, applied(t, s, time.Unix(1, 0).UTC(), &state.Command{PutQueue: &q}).Err)
		require.True(t, s.View().ByQueues())
		require.Equal(t, q, *restored(t, s).View().Queue("physics"))
	}
}

// What older servers have written to their logs is read, also where it would be refused
// by now: output in a task's own folder, a variable of Slurm.
func TestCommandsOfBefore(t *testing.T) {
	s := state.New(nil)
	for i, text := range []string{
		`{"at":"2026-01-30T15:04:05Z","by":"user/ann","submit":{"specs":[{"name":"x","queue":"default","command":["x"],"env":{"SLURM_JOB_ID":"1"},` +
			`"output":"out-%j","resources":{"cpu":"1"},"tasks":1,"killGrace":"30s","retry":{"on":["failed"],"backoff":"10s","maxBackoff":"10m"}}],"owner":"ann"}}`,
		`{"at":"2026-01-30T15:04:06Z","by":"user/ann","cancel":{"job":1,"reason":"enough","state":"CANCELLED"}}`,
	} {
		r := s.Apply(uint64(i+1), 1, [][]byte{[]byte(text)})[0].(state.Result)
		require.Nil(t, r.Err)
	}
	j := s.View().Job(1)
	require.Equal(t, "out-%j", j.Spec.Output)
	require.Equal(t, job.Cancelled, j.State())
	require.Equal(t, "enough", j.CancelReason)
	require.Equal(t, picture(t, s), picture(t, restored(t, s)))
}

// A picture from before there were claims is read with all that is in it, what was under way
// goes on, and nothing of it counts as a claim. Its array has run on some nodes, so the word of
// others does not end it.
func TestStateBeforeClaims(t *testing.T) {
	text, err := os.ReadFile("testdata/before-claims.json")
	require.NoError(t, err)
	w := &world{t: t, State: state.New(nil), now: time.Unix(1_000_000, 0).UTC().Add(time.Minute)}
	require.NoError(t, w.Restore(bytes.NewReader(text)))
	checkRows(t, w.View())
	require.Equal(t, string(text), picture(t, w.State))
	w.index = w.View().Index()

	const array, retried, mistaken, gang, lost job.ID = 1, 2, 3, 4, 5
	says := func(id job.TaskID, node string, r api.Report) {
		r.Task, r.At = id, w.now
		w.must(&state.Command{Report: &state.Report{Node: node, Tasks: []api.Report{r}, SecondOpinion: true}})
	}
	done := api.Report{State: job.Completed, Started: w.now}
	says(job.TaskID{Job: array, Element: 1, Attempt: 1}, "n1", done)
	says(job.TaskID{Job: array, Element: 2, Attempt: 1}, "n0", mistake(1, "no folder"))
	w.tried(array, 2, mistake(1, "no folder"), "n1")
	w.tried(array, 2, mistake(1, "no folder"), "n2")
	w.tried(array, 2, done, "n3")
	w.tried(array, 3, done, "n3")
	require.EqualValues(t, 1, w.View().Element(retried, 0).Failures)
	w.tried(retried, 0, done, "n2")
	says(job.TaskID{Job: gang, Attempt: 1}, "n0", done)
	says(job.TaskID{Job: gang, Attempt: 1, Rank: 1}, "n1", done)
	require.Equal(t, []string{"n1"}, w.View().FailedOn(w.View().Element(lost, 0)))
	w.tried(lost, 0, done, "n2")
	for _, id := range []job.ID{array, retried, gang, lost} {
		require.Equal(t, job.Completed, w.View().Job(id).State(), "job %d", id)
	}
	require.Equal(t, job.Failed, w.View().Job(mistaken).State())
	require.Equal(t, "program x: it is in no folder of PATH=/bin", w.View().Failure(w.View().Job(mistaken)).Outcome.Cause())
	checkRows(t, w.View())
	require.Equal(t, picture(t, w.State), picture(t, restored(t, w.State)))
}

// While servers of before and others take turns to lead, each report counts as its leader
// meant it, on all of them.
func TestLeadersOfBothKinds(t *testing.T) {
	w := newWorld(t)
	w.nodes("n1", "n2", "n3")
	for _, last := range []bool{true, false} { // whether the last of the reports is of a new leader
		id := w.submit("ann", job.Spec{}).Jobs[0]
		w.tried(id, 0, mistake(1, "no folder"), "n0")
		require.Equal(t, job.Pending, w.View().Job(id).State())
		k := job.TaskID{Job: id, Attempt: 2}
		w.must(&state.Command{Place: &state.Place{Task: k, Node: "n1"}})
		r := mistake(1, "no folder")
		r.Task, r.At = k, w.now
		w.must(&state.Command{Report: &state.Report{Node: "n1", Tasks: []api.Report{r}, SecondOpinion: last}})
		want := job.Failed
		if last {
			want = job.Pending
		}
		require.Equal(t, want, w.View().Job(id).State())
		require.Equal(t, picture(t, w.State), picture(t, restored(t, w.State)))
		checkRows(t, w.View())
	}
	require.Empty(t, w.ailment("n0")+w.ailment("n1"))
}
