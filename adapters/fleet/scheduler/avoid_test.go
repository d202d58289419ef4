package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// broken has tasks on some nodes not started, and the others complete.
func (w *world) broken(nodes ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = func(k *state.Task) run {
		for _, n := range nodes {
			if k.Node == n {
				return run{ends: job.BootFail, never: "no space left on device"}
			}
		}
		return run{lasts: time.Minute, ends: job.Completed}
	}
}

// tries are the nodes on which an element's attempts were, in their order.
func (w *world) tries(id job.ID) []string {
	var nodes []string
	for r := range w.state.View().RecordsOfElement(id, 0) {
		nodes = append(nodes, r.Node())
	}
	return nodes
}

// One node after the other is broken, and no two of them take turns: the job gets to the
// one that works. Meanwhile it says why it waits.
func TestBrokenNodesAreLeftOut(t *testing.T) {
	// Equal nodes are taken at random: with this many, turns would be taken.
	nodes := []*api.Registration{node("a", 2), node("b", 2), node("c", 2), node("d", 2)}
	for _, works := range []string{"a", "b", "c", "d"} {
		in(t, nodes, func(w *world) {
			var bad []string
			for _, n := range nodes {
				if n.Node != works {
					bad = append(bad, n.Node)
				}
			}
			w.broken(bad...)
			id := w.submit("")[0]
			w.pass(5 * time.Minute)
			tries := w.tries(id)
			require.Equal(t, "COMPLETED", w.states(id), "%v", tries)
			require.Equal(t, works, tries[len(tries)-1])
			seen := map[string]bool{}
			for _, n := range tries {
				require.False(t, seen[n], "%v", tries)
				seen[n] = true
			}
		})
	}
}

// The reason of a failure is told while another try is to come.
func TestBackoffNamesTheNodeAndTheReason(t *testing.T) {
	in(t, []*api.Registration{node("a", 2)}, func(w *world) {
		w.broken("a")
		id := w.submit("")[0]
		w.pass(time.Second)
		v := w.state.View()
		reason, message := w.leader.Why(v, v.Job(id), 0)
		require.Equal(t, job.ReasonBackoff, reason)
		require.Equal(t, "a: no space left on device", message)
		x, err := w.leader.Explain(v, v.Job(id), 0)
		require.NoError(t, err)
		require.Equal(t, "a: no space left on device", x.Message)
	})
}

// Where every node has failed they are tried again in turn, and then it is given up.
func TestWhenEveryNodeHasFailed(t *testing.T) {
	in(t, two(), func(w *world) {
		w.broken("a", "b")
		id := w.submit("")[0]
		pinned := w.submit("nodes: [a]")[0]
		w.pass(2 * time.Hour)
		require.Equal(t, "BOOT_FAIL BOOT_FAIL", w.states(id, pinned))
		tries := w.tries(id)
		require.Len(t, tries, 1+state.MaxLosses)
		for i := range tries[1:] {
			require.NotEqual(t, tries[i], tries[i+1], "%v", tries)
		}
		require.Len(t, w.tries(pinned), 1+state.MaxLosses, "it may go nowhere else")
		v := w.state.View()
		require.Equal(t, "no space left on device", v.Failure(v.Job(id)).Outcome.Cause())
	})
}

// A node is left out for a while, not for ever: what is left may be full.
func TestBrokenNodesAreTriedAgain(t *testing.T) {
	in(t, []*api.Registration{node("a", 8), node("full", 8)}, func(w *world) {
		w.broken("a")
		w.runs = slowOn(w.runs, "full", time.Hour)
		w.submit("nodes: [full]\nresources: {cpu: 8}")
		w.pass(time.Second)
		id := w.submit("resources: {cpu: 4}")[0]
		gang := w.submit("tasks: 3\nresources: {cpu: 1}")[0]
		w.pass(5 * time.Second)
		require.Equal(t, "PENDING PENDING", w.states(id, gang))
		w.broken() // it is mended
		w.pass(5 * time.Minute)
		require.Equal(t, "PENDING PENDING", w.states(id, gang))
		require.Equal(t, job.ReasonResources, w.why(id))
		w.pass(7 * time.Minute)
		require.Equal(t, "COMPLETED COMPLETED", w.states(id, gang))
		require.Equal(t, []string{"a", "a"}, w.tries(id))
	})
}

// slowOn has what starts on a node last for so long.
func slowOn(runs func(*state.Task) run, node string, d time.Duration) func(*state.Task) run {
	return func(k *state.Task) run {
		r := runs(k)
		if k.Node == node && r.never == "" {
			r.lasts = d
		}
		return r
	}
}

// Where only the broken node is large enough, for the task or for all of a gang, nothing
// is gained by waiting for others.
func TestNobodyWaitsForNodesThatAreTooSmall(t *testing.T) {
	in(t, []*api.Registration{node("big", 8), node("small", 1)}, func(w *world) {
		w.broken("big")
		id := w.submit("resources: {cpu: 4}")[0]
		gang := w.submit("tasks: 3\nresources: {cpu: 1}")[0]
		w.pass(5 * time.Second)
		w.broken()
		w.pass(2 * time.Minute)
		require.Equal(t, "COMPLETED COMPLETED", w.states(id, gang))
	})
}

// The same with a leader that does not know what the one before had offered.
func TestBrokenNodesAreLeftOutByTheNextLeader(t *testing.T) {
	in(t, two(), func(w *world) {
		w.broken("a")
		w.do(&state.Command{Node: &state.NodeChange{Node: "b", Drain: &api.Drain{}}})
		id := w.submit("")[0]
		w.pass(5 * time.Second)
		require.Equal(t, []string{"a"}, w.tries(id))
		w.do(&state.Command{Node: &state.NodeChange{Node: "b", Resume: true}})
		w.lead()
		w.pass(2 * time.Minute)
		require.Equal(t, []string{"a", "b"}, w.tries(id))
		require.Equal(t, "COMPLETED", w.states(id))
	})
}

// A mistake that was confirmed of one element is made by each of the others once,
// and without pauses: it takes no longer than that many tasks that end at once.
func TestMistakenArrayEndsSoon(t *testing.T) {
	in(t, two(), func(w *world) {
		w.runs = func(*state.Task) run { return nosuchprog }
		id := w.submit("array: 0-999\nretry: {limit: 10}")[0]
		w.pass(10 * time.Second)
		j := w.state.View().Job(id)
		require.Equal(t, job.Failed, j.State())
		require.EqualValues(t, 1000, j.Counts.Of(job.Failed))
		require.Less(t, j.Used.Attempts, int64(1020), "those that were under way before it was confirmed have made more")
		for id, n := range w.began {
			require.Equal(t, 1, n, id)
		}
	})
}

// nosuchprog is what nodes say of a program that is not there.
var nosuchprog = run{ends: job.Failed, code: 127, never: "program nosuchprog: it is in no folder of PATH=/bin"}

// unmounted has some nodes claim that a folder is not there, and others run their tasks.
func (w *world) unmounted(nodes ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = func(k *state.Task) run {
		if slices.Contains(nodes, k.Node) {
			return run{lasts: 50 * time.Millisecond, ends: job.Failed, code: 1, never: "working directory /home/ann: there is no such folder"}
		}
		return run{lasts: time.Second, ends: job.Completed}
	}
}

// A single job with a mistake ends at once, by the word of three nodes, or of one of them
// again where no other could take it. Its own retries are not for that.
func TestMistakesEndAtOnce(t *testing.T) {
	many := []*api.Registration{node("a", 2), node("b", 2), node("c", 2), node("d", 2), node("e", 2)}
	for _, c := range []struct {
		name, file string
		nodes      []*api.Registration
		most       int // tries
		distinct   int // nodes
	}{
		{"many nodes", "retry: {limit: 5}", many, 3, 3},
		{"also where its user allows the same node", "retry: {limit: 5, sameNode: true}", many, 3, 3},
		{"two nodes", "", two(), 3, 2},
		{"one node", "", two()[:1], 2, 1},
		{"only one that it may run on", "nodes: [a]", two(), 2, 1},
		{"only one that is large enough", "resources: {cpu: 4}", []*api.Registration{node("a", 8), node("b", 1)}, 2, 1},
		{"a gang that takes both", "tasks: 2\nspread: [{}]", two(), 3, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, c.nodes, func(w *world) {
				w.runs = func(*state.Task) run { return nosuchprog }
				id := w.submit(c.file)[0]
				w.pass(2 * time.Second)
				tries := w.tries(id)
				require.Equal(t, "FAILED", w.states(id), "%v", tries)
				require.LessOrEqual(t, len(tries), c.most)
				require.GreaterOrEqual(t, len(slices.Compact(slices.Sorted(slices.Values(tries)))), c.distinct, "%v", tries)
			})
		})
	}
}

// Nodes that wrongly say that a job is mistaken fail none of them, whatever is tried first.
func TestMistakenNodesFailNoJobs(t *testing.T) {
	nodes := []*api.Registration{node("a", 4), node("b", 4), node("c", 4), node("d", 4), node("e", 4), node("f", 4)}
	for _, bad := range [][]string{{"c"}, {"b", "e"}} {
		in(t, nodes, func(w *world) {
			w.unmounted(bad...)
			array := w.submit("array: 0-59")[0]
			w.pass(time.Minute)
			j := w.state.View().Job(array)
			require.Equal(t, "COMPLETED", w.states(array), "%v", j.Counts.ByState())
		})
	}
}

// Two nodes that lack the same fail no jobs of which each is tried for the first time, one
// after the other, also while those that have it are full.
func TestNodesThatLackTheSame(t *testing.T) {
	for _, full := range []time.Duration{0, 5 * time.Minute} {
		in(t, []*api.Registration{node("a", 4), node("b", 4), node("c", 4)}, func(w *world) {
			w.unmounted("a", "b")
			if full > 0 {
				w.runs = slowOn(w.runs, "c", full)
				w.submit("nodes: [c]\nresources: {cpu: 4}")
				w.pass(time.Second)
			}
			var ids []job.ID
			for range 10 {
				ids = append(ids, w.submit("")[0])
				w.pass(time.Second)
			}
			w.pass(30 * time.Minute)
			for _, id := range ids {
				require.Equal(t, "COMPLETED", w.states(id), "%v", w.tries(id))
			}
		})
	}
}

// The same for gangs, whichever of their nodes are wrong.
func TestMistakenNodesFailNoGangs(t *testing.T) {
	nodes := []*api.Registration{node("a", 4), node("b", 4), node("c", 4), node("d", 4), node("e", 4), node("f", 4)}
	for _, bad := range [][]string{{"c"}, {"b", "e"}} {
		in(t, nodes, func(w *world) {
			w.unmounted(bad...)
			var gangs []job.ID
			for range 10 {
				gangs = append(gangs, w.submit("tasks: 4\nspread: [{}]")[0])
			}
			w.pass(time.Minute)
			for _, id := range gangs {
				require.Equal(t, "COMPLETED", w.states(id), "%v", w.tries(id))
			}
		})
	}
}

// While the other nodes are full, a job that one node says is mistaken waits for them, and
// for ten minutes at most.
func TestClaimsWaitForAnotherNode(t *testing.T) {
	in(t, two(), func(w *world) {
		w.unmounted("a")
		w.runs = slowOn(w.runs, "b", 5*time.Minute)
		w.submit("nodes: [b]\nresources: {cpu: 2}")
		w.pass(time.Second)
		id := w.submit("")[0]
		w.pass(time.Minute)
		require.Equal(t, []string{"a"}, w.tries(id))
		v := w.state.View()
		_, message := w.leader.Why(v, v.Job(id), 0)
		require.Contains(t, message, "a: working directory /home/ann: there is no such folder")
		w.pass(10 * time.Minute)
		require.Equal(t, "COMPLETED", w.states(id))
	})
}

// A node that alone starts nothing is unhealthy soon, whatever it says of itself, and is
// tried again after a while: with the next job that comes.
func TestDistrustedNodes(t *testing.T) {
	in(t, []*api.Registration{node("a", 4), node("b", 4), node("c", 4)}, func(w *world) {
		w.unmounted("b")
		ailment := func() string { return w.state.View().Node("b").Ailment() }
		id := w.submit("array: 0-59")[0]
		w.pass(time.Minute)
		require.Equal(t, "COMPLETED", w.states(id))
		require.Contains(t, ailment(), "ran on other nodes")
		w.submit("nodes: [b]")
		w.pass(5 * time.Minute)
		require.NotEmpty(t, ailment())
		w.unmounted() // it is mended
		w.pass(6 * time.Minute)
		require.Empty(t, ailment())
		require.Empty(t, w.state.View().Node("b").FailedStarts)
	})
}
