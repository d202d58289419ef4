package state_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// nodes registers more nodes.
func (w *world) nodes(names ...string) {
	for _, n := range names {
		w.must(&state.Command{Register: &api.Registration{Node: n, Boot: "1", Machine: api.Machine{CPU: 1 << 40, Memory: 1 << 40, Disk: 1 << 40}}})
	}
}

// tried places the next attempt of an element, rank by rank on the nodes, and has rank 0
// end as reported.
func (w *world) tried(id job.ID, index int32, r api.Report, nodes ...string) {
	w.t.Helper()
	k := job.TaskID{Job: id, Element: index, Attempt: w.View().NextAttempt(id, index)}
	for rank, n := range nodes {
		k.Rank = int32(rank)
		w.must(&state.Command{Place: &state.Place{Task: k, Node: n}})
	}
	k.Rank = 0
	r.Task, r.At = k, w.now
	w.must(&state.Command{Report: &state.Report{Node: nodes[0], Tasks: []api.Report{r}, SecondOpinion: true}})
}

// mistake is what agents report of a job that cannot be started as it is.
func mistake(code int, message string) api.Report {
	return api.Report{State: job.Failed, Exit: &api.Exit{Code: code}, Message: message}
}

// A mistake that was confirmed would be made again: it is, only for who asks for its exit
// code. An exit code of a task that has run counts as ever, also one that a mistake could have.
func TestMistakesAreNotTriedAgain(t *testing.T) {
	ran := mistake(127, "")
	ran.Started = time.Unix(1_000_000, 0)
	for _, c := range []struct {
		name   string
		on     []string
		report api.Report
		again  bool
	}{
		{"by default", nil, mistake(127, "no program"), false},
		{"failed", []string{"failed"}, mistake(127, "no program"), false},
		{"another code", []string{"exit:126", "signal", "oom"}, mistake(127, "no program"), false},
		{"its code", []string{"failed", "exit:127"}, mistake(127, "no program"), true},
		{"a range of codes", []string{"exit:100-130"}, mistake(127, "no program"), true},
		{"the code 1", []string{"exit:1"}, mistake(1, "no folder"), true},
		{"the code of a task that ran, by default", nil, ran, true},
		{"the code of a task that ran", []string{"exit:127"}, ran, true},
		{"a node's fault", []string{"oom"}, api.Report{State: job.BootFail, Message: "no space left on device"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.nodes("n1", "n2")
			id := w.submit("ann", job.Spec{Retry: job.Retry{Limit: 1, On: c.on}}).Jobs[0]
			if c.report.Mistake() {
				w.tried(id, 0, c.report, "n1")
				w.tried(id, 0, c.report, "n2")
			}
			w.tried(id, 0, c.report, "n0")
			j := w.View().Job(id)
			if !c.again {
				assert.Equal(t, job.Failed, j.State())
				assert.Equal(t, c.report.Message, w.View().Failure(j).Outcome.Cause())
				return
			}
			assert.Equal(t, job.Pending, j.State())
			assert.Nil(t, w.View().Failure(j))
			w.now = w.now.Add(time.Hour)
			w.tried(id, 0, ran, "n0")
			assert.Equal(t, job.Failed, w.View().Job(id).State(), "no more often than asked for")
		})
	}
}

// One member that is mistaken ends its gang, which has failed for that reason.
func TestMistakeEndsTheGang(t *testing.T) {
	w := newWorld(t)
	w.nodes("n1", "n2")
	id := w.submit("ann", job.Spec{Tasks: 3, Retry: job.Retry{Limit: 5}}).Jobs[0]
	try := func(nodes ...string) {
		w.tried(id, 0, mistake(1, "working directory /x: there is no such folder"), nodes...)
		for k := range w.View().Tasks() {
			require.NotNil(t, k.Stop, "%s is ended", k.ID)
			w.must(&state.Command{Report: &state.Report{Node: k.Node, Tasks: []api.Report{{Task: k.ID, State: k.Stop.State, At: w.now}}}})
		}
	}
	try("n2", "n1", "n0")
	require.Equal(t, "n2", w.View().Element(id, 0).Avoid, "the node of the rank that failed")
	try("n1", "n2", "n0")
	try("n0", "n1", "n2")
	j := w.View().Job(id)
	require.Equal(t, job.Failed, j.State())
	r := w.View().Failure(j)
	require.Equal(t, "working directory /x: there is no such folder", r.Outcome.Cause())
	require.Equal(t, 1, r.Outcome.Exit.Code)
	require.Equal(t, "n0", r.Node())
}

// An attempt that is being requeued, or cancelled, is so, whatever its tasks say.
func TestMistakeOfWhatIsEnded(t *testing.T) {
	w := newWorld(t)
	id := w.submit("ann", job.Spec{}).Jobs[0]
	k := job.TaskID{Job: id, Attempt: 1}
	w.must(&state.Command{Place: &state.Place{Task: k, Node: "n0"}})
	w.must(&state.Command{Requeue: &state.Select{Job: id}})
	r := mistake(127, "no program")
	r.Task = k
	w.must(&state.Command{Report: &state.Report{Node: "n0", Tasks: []api.Report{r}}})
	require.Equal(t, job.Pending, w.View().Job(id).State())
	require.False(t, w.View().LastRecord(id, 0).Outcome.Mistake)
}

// The owner of a job that waits for another try is told where and why the last one failed.
func TestBackoffSaysWhy(t *testing.T) {
	for _, c := range []struct {
		report api.Report
		says   string
	}{
		{api.Report{State: job.BootFail, Message: "no space left on device"}, "n0: no space left on device"},
		{api.Report{State: job.NodeFail, Message: "its shim was killed"}, "n0: its shim was killed"},
		{api.Report{State: job.Failed, Exit: &api.Exit{Code: 75}, Started: time.Unix(1_000_000, 0)}, "n0: exit code 75"},
		{api.Report{State: job.Failed, Exit: &api.Exit{Code: -1, Signal: "SEGV"}, Started: time.Unix(1_000_000, 0)}, "n0: signal SEGV"},
		{api.Report{State: job.Timeout, Exit: &api.Exit{Code: -1, Signal: "TERM"}, Started: time.Unix(1_000_000, 0)}, "n0: TIMEOUT"},
	} {
		w := newWorld(t)
		id := w.submit("ann", job.Spec{Retry: job.Retry{Limit: 1, On: []string{"failed", "timeout"}}}).Jobs[0]
		w.tried(id, 0, c.report, "n0")
		wait := w.View().ElementWaits(w.View().Job(id), 0, w.now)
		require.Equal(t, state.Wait{Reason: job.ReasonBackoff, Message: c.says, Until: w.now.Add(10 * time.Second)}, wait)

		w.must(&state.Command{Purge: &state.Purge{Records: 0}})
		require.Equal(t, "it is tried again after a pause", w.View().ElementWaits(w.View().Job(id), 0, w.now).Message)
	}
}

// All nodes that could not start an element are known while it is tried on, and none of
// an earlier round.
func TestFailedOn(t *testing.T) {
	w := newWorld(t)
	w.nodes("n1", "n2")
	id := w.submit("ann", job.Spec{Retry: job.Retry{Limit: 1}}).Jobs[0]
	fault := api.Report{State: job.BootFail, Message: "no space left on device"}
	on := func() []string { return w.View().FailedOn(w.View().Element(id, 0)) }
	w.tried(id, 0, fault, "n0")
	require.Equal(t, []string{"n0"}, on())
	w.tried(id, 0, api.Report{State: job.NodeFail}, "n1")
	require.Equal(t, []string{"n0"}, on(), "a node that was lost may be well again")
	w.tried(id, 0, api.Report{State: job.Failed, Exit: &api.Exit{Code: 1}, Started: w.now}, "n2")
	w.tried(id, 0, fault, "n1")
	require.Equal(t, []string{"n1", "n0"}, on())
	w.tried(id, 0, fault, "n1")
	require.Equal(t, []string{"n1", "n0"}, on())

	for w.View().Job(id).State() == job.Pending {
		w.tried(id, 0, fault, "n2")
	}
	require.Equal(t, job.BootFail, w.View().Job(id).State())
	require.Len(t, slices.Collect(w.View().RecordsOf(id)), 1+state.MaxLosses+1, "one failed by itself")
	w.must(&state.Command{Requeue: &state.Select{Job: id}})
	require.Empty(t, on(), "its user begins anew")
}

// The reason why an array has not completed is that of an element that ended as it did.
func TestFailureOfAnArray(t *testing.T) {
	w := newWorld(t)
	array, err := job.ParseArray("0-9,2000-2001")
	require.NoError(t, err)
	id := w.submit("ann", job.Spec{Array: array}).Jobs[0]
	for i := range array.All() {
		r := api.Report{State: job.Completed, Started: w.now}
		if i == 2000 {
			r = mistake(126, "not executable")
			for range 3 { // others have run
				w.tried(id, i, r, "n0")
			}
		}
		require.Nil(t, w.View().Failure(w.View().Job(id)))
		w.tried(id, i, r, "n0")
	}
	r := w.View().Failure(w.View().Job(id))
	require.EqualValues(t, 2000, r.Element)
	require.Equal(t, "not executable", r.Outcome.Cause())
}

// What older agents and servers wrote is read as they meant it: no report and no row of
// theirs is of a mistake.
func TestEntriesBeforeMistakes(t *testing.T) {
	w := newWorld(t)
	id := w.submit("ann", job.Spec{Retry: job.Retry{Limit: 1}}).Jobs[0]
	w.must(&state.Command{Place: &state.Place{Task: job.TaskID{Job: id, Attempt: 1}, Node: "n0"}})
	entry := `{"at":"1970-01-12T13:46:40Z","report":{"node":"n0","tasks":[{"task":"1_0.1.0","state":"BOOT_FAIL",` +
		`"at":"1970-01-12T13:46:40Z","message":"the program \"nosuchprog\" is in no folder of PATH=/bin","usage":{}}]}}`
	w.index++
	require.Nil(t, w.Apply(w.index, 1, [][]byte{[]byte(entry)})[0].(state.Result).Err)
	require.Equal(t, job.Pending, w.View().Job(id).State(), "it is tried again, as when it was written")
	require.NotContains(t, picture(t, w.State), "mistake")
	require.Equal(t, picture(t, w.State), picture(t, restored(t, w.State)))
	w.tried(id, 0, mistake(127, "no program"), "n0")
	require.Contains(t, picture(t, w.State), `"mistake":true`)
	require.Equal(t, picture(t, w.State), picture(t, restored(t, w.State)))
}
