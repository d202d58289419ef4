package scheduler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

func two() []*api.Registration { return []*api.Registration{node("a", 2), node("b", 2)} }

func TestJobsRunAndEnd(t *testing.T) {
	in(t, two(), func(w *world) {
		ids := w.submit("", "", "", "", "", "priority: 5")
		w.pass(30 * time.Second)
		require.Equal(t, "RUNNING RUNNING RUNNING RUNNING PENDING", w.states(ids[0], ids[1], ids[2], ids[5], ids[4]))
		require.Equal(t, job.ReasonResources, w.why(ids[4]))
		w.pass(2 * time.Minute)
		require.Equal(t, strings.TrimSpace(strings.Repeat("COMPLETED ", len(ids))), w.states(ids...))
	})
}

func TestArrays(t *testing.T) {
	in(t, two(), func(w *world) {
		limited := w.submit("array: 0-9%3")[0]
		w.pass(30 * time.Second)
		require.Len(t, w.where(), 3)
		w.pass(5 * time.Minute)
		require.Equal(t, "COMPLETED", w.states(limited))

		big := w.submit("array: 0-999999")[0]
		w.pass(30 * time.Second)
		require.Len(t, w.where(), 4)
		some, _ := job.ParseIndexes("0-999989")
		w.do(&state.Command{Cancel: &state.Cancel{Select: state.Select{Job: big, Elements: &some}, State: job.Cancelled}})
		w.pass(10 * time.Minute)
		j := w.state.View().Job(big)
		require.True(t, j.Done())
		require.EqualValues(t, 10, j.Counts.ByState()[job.Completed])
	})
}

func TestGangsStartTogetherOrNotAtAll(t *testing.T) {
	in(t, two(), func(w *world) {
		blocker := w.submit("timeLimit: 10m")[0]
		gang := w.submit("tasks: 4")[0]
		w.pass(30 * time.Second)
		require.Equal(t, "RUNNING PENDING", w.states(blocker, gang))
		require.Len(t, w.where(), 1, "no task of the gang holds a node")
		w.pass(time.Minute)
		require.Len(t, w.where(), 4)
		w.pass(2 * time.Minute)
		require.Equal(t, "COMPLETED COMPLETED", w.states(blocker, gang))
	})
}

func TestGangEndsWithItsFirstFailure(t *testing.T) {
	in(t, two(), func(w *world) {
		w.runs = func(k *state.Task) run {
			if k.ID.Rank == 2 && k.ID.Attempt == 1 {
				return run{lasts: 10 * time.Second, ends: job.Failed, code: 3}
			}
			return run{lasts: time.Minute, ends: job.Completed}
		}
		gang := w.submit("tasks: 4\nretry: {limit: 1, sameNode: true}")[0]
		w.pass(15 * time.Second)
		require.Equal(t, "PENDING", w.states(gang))
		require.Equal(t, job.ReasonBackoff, w.why(gang))
		w.pass(2 * time.Minute)
		require.Equal(t, "COMPLETED", w.states(gang))
		r := slices.Collect(w.state.View().RecordsOf(gang))
		require.Len(t, r, 2)
		require.Equal(t, job.Failed, r[0].Outcome.State)
		require.EqualValues(t, 2, r[0].Outcome.Rank)
		require.Equal(t, 3, r[0].Outcome.Exit.Code)
	})
}

func TestRetriesAvoidTheLastNode(t *testing.T) {
	in(t, two(), func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: time.Second, ends: job.Failed, code: 1} }
		id := w.submit("retry: {limit: 3, backoff: 5s}")[0]
		w.pass(5 * time.Minute)
		require.Equal(t, "FAILED", w.states(id))
		var nodes []string
		for r := range w.state.View().RecordsOf(id) {
			nodes = append(nodes, r.Nodes[0])
		}
		require.Len(t, nodes, 4)
		for i := range nodes[1:] {
			require.NotEqual(t, nodes[i], nodes[i+1], "%v", nodes)
		}
	})
}

func TestDependencies(t *testing.T) {
	for _, c := range []struct{ kind, first, want string }{
		{"afterok", "ok", "COMPLETED"},
		{"afterok", "bad", "PENDING"},
		{"afternotok", "bad", "COMPLETED"},
		{"afternotok", "ok", "PENDING"},
		{"afterany", "bad", "COMPLETED"},
		{"after", "ok", "COMPLETED"},
		{"aftercorr", "ok", "COMPLETED"},
		{"aftercorr", "bad", "PENDING"},
	} {
		t.Run(c.kind+" "+c.first, func(t *testing.T) {
			in(t, two(), func(w *world) {
				w.runs = func(k *state.Task) run {
					if c.first == "bad" && k.ID.Job == 1 {
						return run{lasts: time.Minute, ends: job.Failed, code: 1}
					}
					return run{lasts: time.Minute, ends: job.Completed}
				}
				ids := w.submit("array: 0-2", fmt.Sprintf("array: 0-2\nafter: [{kind: %s, job: '+0'}]", c.kind))
				w.pass(10 * time.Second)
				if c.kind != "after" {
					require.Equal(t, job.ReasonDependency, w.why(ids[1]))
				}
				w.pass(10 * time.Minute)
				require.Equal(t, c.want, w.states(ids[1]))
				if c.want == "PENDING" {
					require.Equal(t, job.ReasonNever, w.why(ids[1]))
				}
			})
		})
	}
}

// More elements than are offered at once, in an order that is not that of the other
// job's ends, and across a change of leader.
func TestElementsWaitForTheirLikes(t *testing.T) {
	in(t, []*api.Registration{node("a", 400)}, func(w *world) {
		w.runs = func(k *state.Task) run {
			r := run{lasts: time.Minute, ends: job.Completed}
			if k.ID.Job == 1 {
				r.lasts = time.Duration(1500-k.ID.Element) * time.Second
			}
			if k.ID.Job == 1 && k.ID.Element%100 == 7 {
				r.ends = job.Failed
			}
			return r
		}
		ids := w.submit("array: 0-1499\nresources: {cpu: 0.1}", "array: 0-1499%800\nresources: {cpu: 0.1}\nafter: [{kind: aftercorr, job: '+0'}]")
		w.pass(10 * time.Minute)
		j := w.state.View().Job(ids[1])
		require.Positive(t, j.Counts.Of(job.Completed))
		w.lead()
		w.pass(3 * time.Hour)
		j = w.state.View().Job(ids[1])
		require.EqualValues(t, 1485, j.Counts.Of(job.Completed))
		require.EqualValues(t, 15, j.Counts.Of(job.Pending), "those whose likes have failed")
	})
}

func TestSingletonsGoOneByOne(t *testing.T) {
	in(t, two(), func(w *world) {
		ids := w.submit("name: x\nsingleton: true", "name: x\nsingleton: true", "name: y\nsingleton: true")
		w.pass(30 * time.Second)
		require.Equal(t, "RUNNING PENDING RUNNING", w.states(ids...))
		w.pass(time.Minute)
		require.Equal(t, "COMPLETED RUNNING COMPLETED", w.states(ids...))
	})
}

func TestHoldBeginAndDeadline(t *testing.T) {
	in(t, two(), func(w *world) {
		at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
		held := w.submit("hold: true")[0]
		later := w.submit("begin: " + at(time.Hour))[0]
		cut := w.submit("deadline: "+at(30*time.Second), "deadline: "+at(30*time.Second)+"\nconstraints: [{label: no, operator: Exists}]")
		w.pass(10 * time.Second)
		require.Equal(t, "PENDING PENDING RUNNING PENDING", w.states(held, later, cut[0], cut[1]))
		require.Equal(t, job.ReasonHeldUser, w.why(held))
		require.Equal(t, job.ReasonBeginTime, w.why(later))
		w.pass(time.Minute)
		require.Equal(t, "PENDING PENDING DEADLINE DEADLINE", w.states(held, later, cut[0], cut[1]))
		w.do(&state.Command{Hold: &state.Hold{Select: state.Select{Job: held}, Release: true}})
		w.pass(2 * time.Hour)
		require.Equal(t, "COMPLETED COMPLETED", w.states(held, later))
	})
}

func TestLostNodes(t *testing.T) {
	in(t, two(), func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: time.Hour, ends: job.Completed} }
		ids := w.submit("nodes: [a]\nnoRequeue: true", "preferences: [{label: node, values: [a], weight: 100}]", "nodes: [b]")
		w.pass(10 * time.Second)
		require.Equal(t, []string{"1_0.1.0@a", "2_0.1.0@a", "3_0.1.0@b"}, w.where())
		w.cut(true, "a")
		w.pass(time.Minute)
		require.Equal(t, api.NodeUnreachable, w.state.View().Node("a").State)
		require.Equal(t, "RUNNING RUNNING RUNNING", w.states(ids...), "what runs is left alone for a while")
		w.pass(6 * time.Minute)
		require.Equal(t, api.NodeLost, w.state.View().Node("a").State)
		require.Equal(t, "NODE_FAIL RUNNING RUNNING", w.states(ids...))
		require.Equal(t, []string{"2_0.2.0@b", "3_0.1.0@b"}, w.where())
		w.cut(false, "a")
		w.pass(10 * time.Second)
		require.Equal(t, api.NodeReady, w.state.View().Node("a").State)
	})
}

func TestDrainAndMaintenance(t *testing.T) {
	in(t, two(), func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: time.Hour, ends: job.Completed} }
		w.submit("nodes: [a]")
		w.pass(10 * time.Second)
		w.do(&state.Command{Node: &state.NodeChange{Node: "a", Drain: &api.Drain{Deadline: time.Now().Add(time.Minute)}}})
		w.submit("preferences: [{label: node, values: [a], weight: 100}]")
		w.pass(10 * time.Second)
		require.Equal(t, []string{"1_0.1.0@a", "2_0.1.0@b"}, w.where())
		w.pass(time.Minute)
		require.Equal(t, []string{"2_0.1.0@b"}, w.where(), "at the deadline tasks are ended, and wait for the node")
		w.do(&state.Command{Node: &state.NodeChange{Node: "a", Resume: true}})
		w.pass(30 * time.Second)
		require.Equal(t, []string{"1_0.2.0@a", "2_0.1.0@b"}, w.where())

		from := time.Now().Add(30 * time.Minute)
		w.do(&state.Command{Node: &state.NodeChange{Node: "a", Maintenance: &api.Maintenance{From: from, To: from.Add(time.Hour)}}})
		ids := w.submit("nodes: [a]\ntimeLimit: 20m", "nodes: [a]\ntimeLimit: 40m")
		w.pass(10 * time.Second)
		require.Equal(t, "RUNNING PENDING", w.states(ids...))
		w.pass(31 * time.Minute)
		require.Equal(t, []string{"2_0.1.0@b"}, w.where())
		w.pass(time.Hour)
		require.Contains(t, strings.Join(w.where(), " "), "@a")
	})
}

func TestPreemptionOfWholeGangs(t *testing.T) {
	in(t, two(), func(w *world) {
		w.do(&state.Command{PutQueue: &state.Queue{Name: "urgent", Priority: 100, Preempts: true}})
		w.runs = func(k *state.Task) run { return run{lasts: 10 * time.Minute, ends: job.Completed} }
		gang := w.submit("tasks: 4")[0]
		w.pass(10 * time.Second)
		require.Equal(t, "RUNNING", w.states(gang))
		urgent := w.submit("queue: urgent\nresources: {cpu: 2}")[0]
		w.pass(time.Minute)
		require.Equal(t, "PENDING RUNNING", w.states(gang, urgent))
		w.pass(30 * time.Minute)
		require.Equal(t, "COMPLETED COMPLETED", w.states(gang, urgent))
		r := slices.Collect(w.state.View().RecordsOf(gang))
		require.Equal(t, job.Preempted, r[0].Outcome.State)
	})
}

func TestQueueLimits(t *testing.T) {
	in(t, two(), func(w *world) {
		w.do(&state.Command{PutQueue: &state.Queue{Name: "narrow", MaxRunning: 2}})
		ids := w.submit("queue: narrow", "queue: narrow", "queue: narrow\narray: 0-3", "")
		w.pass(30 * time.Second)
		require.Equal(t, "RUNNING RUNNING PENDING RUNNING", w.states(ids...))
		require.Equal(t, job.ReasonQueueLimit, w.why(ids[2]))
		w.do(&state.Command{PutQueue: &state.Queue{Name: "narrow", MaxRunning: 2, Stopped: true}})
		w.pass(2 * time.Minute)
		require.Equal(t, "COMPLETED COMPLETED PENDING COMPLETED", w.states(ids...))
		require.Equal(t, job.ReasonQueueStopped, w.why(ids[2]))
		w.do(&state.Command{PutQueue: &state.Queue{Name: "narrow", MaxRunning: 2}})
		w.pass(10 * time.Minute)
		require.Equal(t, "COMPLETED", w.states(ids[2]))
	})
}

func TestNextLeaderGoesOn(t *testing.T) {
	in(t, two(), func(w *world) {
		ids := w.submit("array: 0-19", "tasks: 4", "", "name: held\nhold: true")
		for range 30 {
			w.pass(7 * time.Second)
			w.lead()
		}
		w.pass(10 * time.Minute)
		require.Equal(t, "COMPLETED COMPLETED COMPLETED PENDING", w.states(ids...))
		for id, n := range w.began {
			require.Equal(t, 1, n, "task %s was begun more than once", id)
		}
	})
}

func TestExplain(t *testing.T) {
	in(t, []*api.Registration{node("a", 2, "rack=r1"), node("b", 8, "rack=r2")}, func(w *world) {
		id := w.submit("resources: {cpu: 4}\nconstraints: [{label: rack, values: [r1]}]")[0]
		w.pass(10 * time.Second)
		v := w.state.View()
		x, err := w.leader.Explain(v, v.Job(id), 0)
		require.NoError(t, err)
		require.Equal(t, job.ReasonBadConstraints, x.Reason)
		require.Equal(t, "none of 2 nodes has all of this together: constraint rack=r1, 4 cpu", x.Message)
		require.Len(t, x.Nodes, 2)
		for _, n := range x.Nodes {
			require.False(t, n.Feasible)
			want := map[string]string{"a": "NodeResourcesFit", "b": "NodeAffinity"}[n.Node]
			require.Equal(t, want, n.Verdicts[0].Plugin)
			words := map[string]string{"a": "has less cpu than asked for", "b": "does not meet the constraint rack=r1"}[n.Node]
			require.Equal(t, []string{words}, n.Verdicts[0].Reasons)
		}
	})
}
