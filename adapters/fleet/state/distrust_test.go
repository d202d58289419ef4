package state_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// ailment is why a node is not well.
func (w *world) ailment(node string) string { return w.View().Node(node).Ailment() }

// misjudged has a node not start a job of a user that then runs elsewhere.
func (w *world) misjudged(owner, node, elsewhere string, r api.Report) {
	w.t.Helper()
	id := w.submit(owner, job.Spec{}).Jobs[0]
	w.tried(id, 0, r, node)
	w.tried(id, 0, api.Report{State: job.Completed, Started: w.now}, elsewhere)
}

// A node on which three jobs in a row could not start that ran elsewhere gets no more of
// them, until something shows that it is well.
func TestNodesAreDistrusted(t *testing.T) {
	noFolder := mistake(1, "no folder")
	for _, fault := range []api.Report{noFolder, {State: job.BootFail, Message: "no space left on device"}} {
		w := newWorld(t)
		w.nodes("n1", "n2", "n3")
		well := ""
		distrust := func() {
			for range 2 {
				w.misjudged("ann", "n1", "n2", fault)
			}
			require.Empty(t, w.ailment("n1"))
			w.misjudged("ann", "n1", "n2", fault)
			require.Contains(t, w.ailment("n1"), "3 tasks in a row could not start here and then ran on other nodes, the last of job ")
			require.False(t, w.View().Node("n1").Usable())
			require.Equal(t, picture(t, w.State), picture(t, restored(t, w.State)))
		}
		distrust()
		w.must(&state.Command{NodeStatus: &state.NodeStatus{Node: "n1", Unhealthy: &well}})
		require.NotEmpty(t, w.ailment("n1"), "what it says of itself does not count")
		w.nodes("n1")
		require.NotEmpty(t, w.ailment("n1"), "it has registered again, and was not started anew")
		require.Empty(t, w.ailment("n2"))

		w.must(&state.Command{Node: &state.NodeChange{Node: "n1", Resume: true}})
		require.Empty(t, w.ailment("n1"))
		distrust()
		w.must(&state.Command{NodeStatus: &state.NodeStatus{Node: "n1", Probe: true}})
		require.Empty(t, w.ailment("n1"))
		w.misjudged("ann", "n1", "n2", fault)
		require.NotEmpty(t, w.ailment("n1"), "the probe has failed")
		w.must(&state.Command{NodeStatus: &state.NodeStatus{Node: "n1", Probe: true}})
		w.misjudged("ann", "n3", "n1", fault)
		distrust()

		w.misjudged("bob", "n2", "n3", noFolder)
		w.misjudged("bob", "n2", "n3", noFolder)
		w.misjudged("bob", "n3", "n2", noFolder)
		w.misjudged("bob", "n2", "n3", noFolder)
		require.Empty(t, w.ailment("n2"), "not in a row")
	}
}

// A user who is mistaken takes no node out of use, nor does one whose jobs need what only
// a few nodes have take more than half of them.
func TestNoNodeIsLostForAMistake(t *testing.T) {
	w := newWorld(t)
	w.nodes("n1", "n2", "n3")
	for range 10 {
		id := w.submit("ann", job.Spec{}).Jobs[0]
		for _, n := range []string{"n0", "n1", "n2"} {
			w.tried(id, 0, mistake(1, "no folder"), n)
		}
		require.Equal(t, job.Failed, w.View().Job(id).State())
	}
	require.Empty(t, w.ailment("n0")+w.ailment("n1")+w.ailment("n2"))
	require.Empty(t, w.View().Node("n0").FailedStarts)

	lost := 0
	for _, n := range []string{"n0", "n1", "n2"} {
		for range 3 {
			w.misjudged("ann", n, "n3", mistake(127, "no program"))
		}
		if w.ailment(n) != "" {
			lost++
		}
	}
	require.Equal(t, 2, lost)
}

// Where the others are full nobody can tell yet who is wrong: jobs of three users are.
func TestNodeThatFailsForSeveralUsers(t *testing.T) {
	w := newWorld(t)
	w.nodes("n1", "n2")
	for _, owner := range []string{"ann", "ann", "ann", "bob", "eve"} {
		require.Empty(t, w.ailment("n1"))
		w.tried(w.submit(owner, job.Spec{}).Jobs[0], 0, mistake(1, "no account"), "n1")
	}
	require.Equal(t, "tasks of 3 users in a row could not start here, the last of job 5", w.ailment("n1"))
}

// The word of a node counts no more once a job has run that it could not start.
func TestWordOfANodeThatWasWrong(t *testing.T) {
	w := newWorld(t)
	w.nodes("n1", "n2", "n3")
	w.misjudged("ann", "n1", "n3", mistake(1, "no folder"))
	for _, tries := range [][]string{{"n1", "n2", "n0"}, {"n2", "n1", "n0"}, {"n0", "n2", "n1"}} {
		id := w.submit("ann", job.Spec{}).Jobs[0]
		for _, n := range tries {
			w.tried(id, 0, mistake(1, "no folder"), n)
		}
		require.Equal(t, job.Pending, w.View().Job(id).State())
		w.tried(id, 0, mistake(1, "no folder"), "n3")
		require.Equal(t, job.Failed, w.View().Job(id).State())
	}
}

// Each rank of a gang speaks for its own node.
func TestGangsAndDistrust(t *testing.T) {
	w := newWorld(t)
	w.nodes("n1", "n2", "n3")
	for range 3 {
		id := w.submit("ann", job.Spec{Tasks: 2}).Jobs[0]
		k := job.TaskID{Job: id, Attempt: 1}
		for rank, n := range []string{"n1", "n0"} {
			k.Rank = int32(rank)
			w.must(&state.Command{Place: &state.Place{Task: k, Node: n}})
		}
		failed := mistake(1, "no folder")
		failed.Task = k // rank 1
		w.must(&state.Command{Report: &state.Report{Node: "n0", Tasks: []api.Report{failed}, SecondOpinion: true}})
		k.Rank = 0
		ended := api.Report{Task: k, State: job.Failed, At: w.now, Started: w.now}
		w.must(&state.Command{Report: &state.Report{Node: "n1", Tasks: []api.Report{ended}, SecondOpinion: true}})
		require.Equal(t, job.Pending, w.View().Job(id).State())
		for rank, n := range []string{"n1", "n2"} {
			k.Attempt, k.Rank = 2, int32(rank)
			w.must(&state.Command{Place: &state.Place{Task: k, Node: n}})
		}
		for rank, n := range []string{"n1", "n2"} {
			k.Rank = int32(rank)
			w.must(&state.Command{Report: &state.Report{Node: n, Tasks: []api.Report{{Task: k, State: job.Running, At: w.now}}}})
		}
	}
	require.NotEmpty(t, w.ailment("n0"))
	require.Empty(t, w.ailment("n1")+w.ailment("n2"))
}

// A node that knows itself what is wrong is well again when it says so.
func TestNodeThatKnows(t *testing.T) {
	w := newWorld(t)
	w.nodes("n1", "n2")
	says := func(text string) { w.must(&state.Command{NodeStatus: &state.NodeStatus{Node: "n1", Unhealthy: &text}}) }
	full := api.Report{State: job.BootFail, Message: "no space left on device"}
	var ids []job.ID
	for range 4 { // at once
		id := w.submit("ann", job.Spec{}).Jobs[0]
		ids = append(ids, id)
		w.tried(id, 0, full, "n1")
	}
	says("data folder: no space left on device")
	for _, id := range ids {
		w.tried(id, 0, api.Report{State: job.Completed, Started: w.now}, "n2")
	}
	require.Equal(t, "data folder: no space left on device", w.ailment("n1"))
	says("")
	require.True(t, w.View().Node("n1").Usable())
	w.misjudged("ann", "n1", "n2", full)
	require.Empty(t, w.ailment("n1"), "that is the first since then")
}
