package state_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// said is one try, and what the node said of it; "" is that it runs and completes.
type said struct {
	node, says string
}

// A job ends by a mistake that three nodes claim of its element in the same words, or one
// of them twice, because there are no more. Until then it is tried again at once, and no
// retry of its user is spent.
func TestClaimsAreConfirmed(t *testing.T) {
	const folder = "working directory /home/ann: there is no such folder"
	for _, c := range []struct {
		name  string
		tries []said
		ends  job.State
	}{
		{"three nodes", []said{{"n0", folder}, {"n1", folder}, {"n2", folder}}, job.Failed},
		{"two nodes, and there are no others", []said{{"n0", folder}, {"n1", folder}, {"n0", folder}}, job.Failed},
		{"two nodes that lack the same", []said{{"n0", folder}, {"n1", folder}, {"n2", ""}}, job.Completed},
		{"one node alone", []said{{"n0", folder}, {"n1", ""}}, job.Completed},
		{"one node, which no other could stand in for", []said{{"n0", folder}, {"n0", folder}}, job.Failed},
		{"two nodes with faults of their own", []said{{"n0", folder}, {"n1", "quota exceeded"}, {"n2", ""}}, job.Completed},
		{"two that speak of themselves", []said{
			{"n0", "account ann: node n0 has no account of this name"}, {"n1", "account ann: node n1 has no account of this name"},
			{"n2", "account ann: node n2 has no account of this name"},
		}, job.Failed},
		{"as many as there may be", []said{{"n0", "no folder n0"}, {"n1", "no folder n1"}, {"n2", "no folder n2"}, {"n3", "no folder n3"}}, job.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.nodes("n1", "n2", "n3")
			id := w.submit("ann", job.Spec{}).Jobs[0]
			for i, try := range c.tries {
				if i > 0 {
					e := w.View().Element(id, 0)
					require.Equal(t, job.Pending, e.State)
					require.Zero(t, e.Failures+e.Losses)
					require.Equal(t, w.now, e.Eligible)
					require.Equal(t, c.tries[i-1].node, e.Avoid)
					require.Equal(t, picture(t, w.State), picture(t, restored(t, w.State)))
				}
				r := api.Report{State: job.Completed, Started: w.now}
				if try.says != "" {
					r = mistake(1, try.says)
				}
				w.tried(id, 0, r, try.node)
			}
			require.Equal(t, c.ends, w.View().Job(id).State())
		})
	}
}

// A node that claims so in between does not use up the pauses and the retries of its user,
// and they do not make it forgotten.
func TestClaimsAndRetries(t *testing.T) {
	w := newWorld(t)
	w.nodes("n1", "n2")
	id := w.submit("ann", job.Spec{Retry: job.Retry{Limit: 1}}).Jobs[0]
	w.tried(id, 0, mistake(1, "no folder"), "n0")
	w.tried(id, 0, api.Report{State: job.Failed, Exit: &api.Exit{Code: 3}, Started: w.now}, "n1")
	require.Equal(t, w.now.Add(10*time.Second), w.View().Element(id, 0).Eligible)
	for range 3 {
		require.Equal(t, job.Pending, w.View().Job(id).State())
		w.tried(id, 0, mistake(1, "no folder"), "n2")
	}
	require.Equal(t, job.Failed, w.View().Job(id).State())
}

// What was confirmed of one element of an array counts for the others, unless some element
// has run: then all tries are made, for it may be some nodes that are wrong.
func TestClaimsAboutAnArray(t *testing.T) {
	array, err := job.ParseArray("0-9")
	require.NoError(t, err)
	for _, ran := range []bool{false, true} {
		w := newWorld(t)
		w.nodes("n1", "n2")
		id := w.submit("ann", job.Spec{Array: array}).Jobs[0]
		if ran {
			w.tried(id, 9, api.Report{State: job.Completed, Started: w.now}, "n2")
		}
		w.tried(id, 0, mistake(1, "output file 0: no folder"), "n0")
		w.tried(id, 1, mistake(1, "output file 1: no folder"), "n0")
		require.Len(t, w.View().Job(id).Claims, 1)
		w.tried(id, 0, mistake(1, "output file 0: no folder"), "n1")
		w.tried(id, 0, mistake(1, "output file 0: no folder"), "n2")
		w.tried(id, 2, mistake(1, "output file 2: no folder"), "n0")
		s, _ := w.View().StateOf(w.View().Job(id), 2)
		if ran {
			require.Equal(t, job.Pending, s)
			for _, n := range []string{"n1", "n2", "n0"} {
				w.tried(id, 2, mistake(1, "output file 2: no folder"), n)
			}
		} else {
			require.Equal(t, job.Failed, s)
		}

		w.must(&state.Command{Requeue: &state.Select{Job: id, Elements: elements(t, "2")}})
		w.tried(id, 2, mistake(1, "output file 2: no folder"), "n0")
		s, _ = w.View().StateOf(w.View().Job(id), 2)
		require.Equal(t, job.Pending, s, "its user begins anew")
	}
}

// elements is a selection.
func elements(t *testing.T, text string) *job.Indexes {
	t.Helper()
	x, err := job.ParseIndexes(text)
	require.NoError(t, err)
	return &x
}

// A report that an older server has recorded ends its job, as it did then.
func TestReportsBeforeClaims(t *testing.T) {
	w := newWorld(t)
	id := w.submit("ann", job.Spec{}).Jobs[0]
	w.must(&state.Command{Place: &state.Place{Task: job.TaskID{Job: id, Attempt: 1}, Node: "n0"}})
	entry := `{"at":"1970-01-12T13:46:40Z","report":{"node":"n0","tasks":[{"task":"1_0.1.0","state":"FAILED",` +
		`"exit":{"code":127},"at":"1970-01-12T13:46:40Z","message":"no program","usage":{}}]}}`
	w.index++
	require.Nil(t, w.Apply(w.index, 1, [][]byte{[]byte(entry)})[0].(state.Result).Err)
	require.Equal(t, job.Failed, w.View().Job(id).State())
}
