package scheduler_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// kubeWords are those of Kubernetes, or of the engine, that users of a fleet must not
// meet, and the beginning of what is said where nobody has found words.
var kubeWords = regexp.MustCompile(`(?i)\bpods?\b|podgroup|pod group|node\(s\)|claim|preemption|minCount|affinity|placement|untolerated|unschedulable|` +
	`\bInsufficient\b|ephemeral|topology|workload|gpu devices|\d/\d+ nodes|says \\?"`)

// machine changes what a node has.
func machine(n *api.Registration, change func(*api.Machine)) *api.Registration {
	change(&n.Machine)
	return n
}

// gpus makes it a node with GPUs.
func gpus(n *api.Registration, models ...string) *api.Registration {
	for _, m := range models {
		n.Machine.GPUs = append(n.Machine.GPUs, api.GPU{Model: m})
	}
	return n
}

// Whatever keeps a job waiting is said in the words of a fleet: the message, and what
// speaks against each node.
func TestWords(t *testing.T) {
	drained := func(w *world) {
		w.do(&state.Command{Node: &state.NodeChange{Node: "a", Drain: &api.Drain{Reason: "broken fan"}}})
	}
	const filler = "name: filler\nresources: {cpu: 2}\ntimeLimit: 1h"
	for _, c := range []struct {
		name    string
		nodes   []*api.Registration
		prepare func(*world)
		before  []string // jobs that are there before, and run
		job     string
		reason  job.Reason
		message string
		verdict string // on the first node of all
	}{
		{
			name: "full", before: []string{filler, filler}, job: "",
			reason: job.ReasonResources, message: "0 of 2 nodes fit: not enough cpu free (2)", verdict: "not enough cpu free",
		},
		{
			name: "several things lacking", before: []string{filler}, nodes: []*api.Registration{node("a", 2)}, job: "resources: {memory: 1Ti}\nnear: [{labels: {x: y}}]",
			reason: job.ReasonResources, message: "0 of 1 nodes fit: not enough cpu free (1)",
			verdict: "not enough cpu free, is not near the jobs asked for (near)",
		},
		{
			name: "memory and disk", nodes: []*api.Registration{node("a", 4)}, before: []string{"resources: {memory: 1Ti, disk: 1Ti}"},
			job:    "resources: {memory: 1Gi, disk: 1Gi}",
			reason: job.ReasonResources, message: "0 of 1 nodes fit: not enough disk free (1), not enough memory free (1)",
			verdict: "not enough memory free, not enough disk free",
		},
		{
			name: "other resources", job: "resources: {other: {tape: 1}}", before: []string{"resources: {other: {tape: 2}}"},
			nodes:  []*api.Registration{machine(node("a", 4), func(m *api.Machine) { m.Other = map[string]int64{"tape": 2} })},
			reason: job.ReasonResources, message: "0 of 1 nodes fit: not enough tape free (1)", verdict: "not enough tape free",
		},
		{
			name: "no more tasks", before: []string{""}, job: "",
			nodes:  []*api.Registration{machine(node("a", 4), func(m *api.Machine) { m.MaxTasks = 1 })},
			reason: job.ReasonResources, message: "0 of 1 nodes fit: runs as many tasks as it may (1)", verdict: "runs as many tasks as it may",
		},
		{
			name: "too large", job: "resources: {cpu: 3, memory: 2Ti}",
			reason: job.ReasonBadConstraints,
			message: "no node is large enough: it asks for 3 cpu, and the largest of 2 nodes has 2; " +
				"no node is large enough: it asks for 2Ti memory, and the largest of 2 nodes has 1Ti",
			verdict: "has less cpu than asked for, has less memory than asked for",
		},
		{
			name: "more GPUs than there are, and full", nodes: []*api.Registration{gpus(node("a", 2), "L4")}, before: []string{filler},
			job: "resources: {gpus: {count: 4}}", reason: job.ReasonBadConstraints,
			message: "no node is large enough: it asks for 4 GPUs, and the most that a node has is 1",
			verdict: "not enough cpu free, has fewer GPUs than asked for",
		},
		{
			name: "a model that there is not, and full", nodes: []*api.Registration{gpus(node("a", 2), "L4")}, before: []string{filler},
			job: "resources: {gpus: {models: [H100]}}", reason: job.ReasonBadConstraints,
			message: "no node has a GPU of model H100; there are L4", verdict: "not enough cpu free, has no GPU of model H100",
		},
		{
			name: "spread by a label that there is not, and full", before: []string{filler, filler}, job: "spread: [{label: rack}]",
			reason: job.ReasonBadConstraints, message: "none of 2 nodes has the label rack",
			verdict: "not enough cpu free, has not the label by which the job is spread",
		},
		{
			name: "a gang that its queue never lets start", job: "tasks: 2", reason: job.ReasonBadConstraints,
			prepare: func(w *world) { w.do(&state.Command{PutQueue: &api.Queue{Name: "default", MaxRunning: 1}}) },
			message: "queue default lets a user run 1 tasks at once, and its 2 tasks start together or not at all",
		},
		{
			name: "drained, and full", prepare: drained, before: []string{filler}, job: "",
			reason: job.ReasonResources, message: "0 of 2 nodes fit: is drained: broken fan (1), not enough cpu free (1)", verdict: "is drained: broken fan",
		},
		{
			name: "drained, and nobody said why", job: "nodes: [a]",
			prepare: func(w *world) { w.do(&state.Command{Node: &state.NodeChange{Node: "a", Drain: &api.Drain{}}}) },
			reason:  job.ReasonResources, message: "0 of 2 nodes fit: is drained (1), is none of the nodes asked for (1)",
		},
		{
			name: "in maintenance, and to come", job: "timeLimit: 2h",
			prepare: func(w *world) {
				now := time.Now()
				for name, from := range map[string]time.Time{"a": now, "b": now.Add(time.Hour)} {
					m := &api.Maintenance{From: from, To: from.Add(3 * time.Hour)}
					w.do(&state.Command{Node: &state.NodeChange{Node: name, Maintenance: m}})
				}
			},
			reason:  job.ReasonResources,
			message: "0 of 2 nodes fit: has maintenance before the job's time limit has passed (1), is in maintenance (1)",
			verdict: "is in maintenance, has maintenance before the job's time limit has passed",
		},
		{
			name: "unhealthy", nodes: []*api.Registration{node("a", 2)}, job: "",
			prepare: func(w *world) {
				w.cut(true, "a") // it says nothing else
				go func() {
					for w.ctx.Err() == nil {
						w.leader.Heartbeat("a", "the disk is full")
						time.Sleep(time.Second)
					}
				}()
				w.pass(5 * time.Second)
			},
			reason: job.ReasonResources, message: "0 of 1 nodes fit: is unhealthy (1)", verdict: "is unhealthy",
		},
		{
			name: "unreachable", nodes: []*api.Registration{node("a", 2)}, job: "",
			prepare: func(w *world) {
				w.cut(true, "a")
				w.pass(30 * time.Second)
			},
			reason: job.ReasonResources, message: "0 of 1 nodes fit: is unreachable (1)", verdict: "is unreachable",
		},
		{
			name: "a label that no node has", job: "constraints: [{label: ib}]",
			reason: job.ReasonBadConstraints, message: "constraint ib: none of 2 nodes has the label ib",
			verdict: "does not meet the constraint ib: it has no such label",
		},
		{
			name: "a value that no node has", nodes: []*api.Registration{node("a", 2, "rack=r1"), node("b", 2, "rack=r2")},
			job:    "constraints: [{label: rack, values: [r8, r9]}]",
			reason: job.ReasonBadConstraints, message: "constraint rack in r8,r9: 0 of 2 nodes meet it; rack is r1 or r2",
			verdict: "does not meet the constraint rack in r8,r9",
		},
		{
			name: "each, but not both", nodes: []*api.Registration{node("a", 2, "rack=r1"), node("b", 2, "ib=")},
			job:    "constraints: [{label: rack, values: [r1]}, {label: ib}]",
			reason: job.ReasonBadConstraints, message: "none of 2 nodes has all of this together: constraint rack=r1, constraint ib",
			verdict: "does not meet the constraint ib: it has no such label",
		},
		{
			name: "a constraint, and full", nodes: []*api.Registration{node("a", 2, "speed=3"), node("b", 2, "speed=5")}, before: []string{filler + "\nnodes: [b]"},
			job:    "constraints: [{label: speed, operator: Gt, values: ['4']}, {label: old, operator: NotExists}]",
			reason: job.ReasonResources, message: "0 of 2 nodes fit: does not meet the constraint speed>4 (1), not enough cpu free (1)",
			verdict: "does not meet the constraint speed>4",
		},
		{
			name: "a node that there is not", job: "nodes: [n7, n8]",
			reason: job.ReasonBadConstraints, message: "there is no node n7 or n8", verdict: "is none of the nodes asked for",
		},
		{
			name: "left out, or full", before: []string{filler + "\nnodes: [b]"}, job: "excludeNodes: [a]",
			reason:  job.ReasonResources,
			message: "0 of 2 nodes fit: is left out by the job, or because its last attempt failed there (1), not enough cpu free (1)",
			verdict: "is left out by the job, or because its last attempt failed there",
		},
		{
			name: "all are left out", job: "excludeNodes: [a, b]",
			reason: job.ReasonBadConstraints, message: "it leaves out all of 2 nodes",
			verdict: "is left out by the job, or because its last attempt failed there",
		},
		{
			name: "no GPUs", job: "resources: {gpus: {count: 1}}",
			reason: job.ReasonBadConstraints, message: "none of 2 nodes has GPUs", verdict: "has no GPUs",
		},
		{
			name: "a model that no node has", nodes: []*api.Registration{gpus(node("a", 2), "NVIDIA A100-SXM4-40GB", "NVIDIA L4")},
			job:    "resources: {gpus: {count: 1, models: [a100]}}",
			reason: job.ReasonBadConstraints, message: "no node has a GPU of model a100; there are NVIDIA A100-SXM4-40GB or NVIDIA L4",
			verdict: "has no GPU of model a100",
		},
		{
			name: "too many GPUs", nodes: []*api.Registration{gpus(node("a", 2), "L4", "L4", "A2")}, job: "resources: {gpus: {count: 3, models: [L4]}}",
			reason:  job.ReasonBadConstraints,
			message: "no node is large enough: it asks for 3 GPUs of model L4, and the most that a node has is 2",
			verdict: "has fewer GPUs of a model asked for than asked for",
		},
		{
			name: "GPUs in use", nodes: []*api.Registration{gpus(node("a", 4), "L4"), gpus(node("b", 4), "A2", "A2"), node("c", 4)},
			before: []string{"resources: {gpus: {count: 1, models: [L4]}}"}, job: "resources: {gpus: {count: 1, models: [L4]}}",
			reason:  job.ReasonResources,
			message: "0 of 3 nodes fit: has no GPU of model L4 (1), has no GPUs (1), not enough GPUs free (1)", verdict: "not enough GPUs free",
		},
		{
			name: "apart", before: []string{"labels: {part: db}\nnodes: [a]"}, nodes: []*api.Registration{node("a", 2)},
			job:    "apart: [{labels: {part: db}}]",
			reason: job.ReasonResources, message: "0 of 1 nodes fit: is near jobs that it is to be apart from (apart) (1)",
			verdict: "is near jobs that it is to be apart from (apart)",
		},
		{
			name: "others want to be apart", before: []string{"apart: [{labels: {part: web}}]\nnodes: [a]"}, nodes: []*api.Registration{node("a", 2)},
			job:    "labels: {part: web}",
			reason: job.ReasonResources, message: "0 of 1 nodes fit: is near a job that is to be apart from this one (1)",
			verdict: "is near a job that is to be apart from this one",
		},
		{
			name: "near", job: "near: [{labels: {part: db}}]",
			reason: job.ReasonResources, message: "0 of 2 nodes fit: is not near the jobs asked for (near) (2)",
			verdict: "is not near the jobs asked for (near)",
		},
		{
			name: "spread by a label that no node has", job: "spread: [{label: rack}]",
			reason: job.ReasonBadConstraints, message: "none of 2 nodes has the label rack", verdict: "has not the label by which the job is spread",
		},
		{
			name: "a gang that does not fit now", before: []string{filler + "\nnodes: [a]"}, job: "tasks: 4",
			reason:  job.ReasonResources,
			message: "it needs room for 4 tasks at once, and there is room for 2 now; for the next task, 0 of 2 nodes fit: not enough cpu free (2)",
			verdict: "not enough cpu free",
		},
		{
			name: "a gang that never fits", job: "tasks: 5",
			reason:  job.ReasonBadConstraints,
			message: "the fleet has room for 4 of its 5 tasks when nothing else runs, and they start together or not at all",
		},
		{
			name: "a gang of one rack", nodes: []*api.Registration{node("a", 2, "rack=r1"), node("b", 2, "rack=r1"), node("c", 2)},
			before: []string{filler + "\nnodes: [a]"}, job: "tasks: 4\nsameLabel: rack",
			reason: job.ReasonResources,
			message: "it needs room for 4 tasks at once on nodes with the same rack; on those with rack=r1 there is room for 2 now, and nowhere for all; " +
				"for the next task, 0 of 2 nodes fit: not enough cpu free (2)",
			verdict: "not enough cpu free",
		},
		{
			name: "a gang too large for any rack", nodes: []*api.Registration{node("a", 2, "rack=r1"), node("b", 2, "rack=r1"), node("c", 3, "rack=r2")},
			job: "tasks: 5\nsameLabel: rack", reason: job.ReasonBadConstraints,
			message: "there is no rack for all of its 5 tasks, even when nothing else runs: rack=r1 has room for 4, and no other for more",
		},
		{
			name: "a gang by a label that no node has", job: "tasks: 2\nsameLabel: rack",
			reason: job.ReasonBadConstraints, message: "none of 2 nodes has the label rack",
		},
		{
			name: "no nodes", nodes: []*api.Registration{}, job: "", reason: job.ReasonResources, message: "no node of the fleet is up",
		},
		{
			name: "a gang, and no nodes", nodes: []*api.Registration{}, job: "tasks: 2",
			reason: job.ReasonResources, message: "no node of the fleet is up",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			nodes := c.nodes
			if nodes == nil {
				nodes = two()
			}
			in(t, nodes, func(w *world) {
				w.runs = func(*state.Task) run { return run{lasts: 20 * time.Hour, ends: job.Completed} }
				if c.prepare != nil {
					c.prepare(w)
				}
				for _, file := range c.before {
					id := w.submit(file)[0]
					w.pass(10 * time.Second)
					require.Equal(t, "RUNNING", w.states(id), w.message(id))
				}
				id := w.submit(c.job)[0]
				w.pass(10 * time.Second)
				require.Equal(t, "PENDING", w.states(id))
				require.Equal(t, c.message, w.message(id))
				require.Equal(t, c.reason, w.why(id))
				x := w.explains(id)
				require.Equal(t, c.message, x.Message)
				if c.verdict != "" {
					require.Equal(t, c.verdict, reasonsAgainst(x, "a"))
				}
				x.Nodes = withoutPlugins(x.Nodes)
				text, err := json.Marshal(x)
				require.NoError(t, err)
				require.NotRegexp(t, kubeWords, string(text))
			})
		})
	}
}

// Who makes room for whom is said by the numbers of jobs.
func TestWordsOfPreemption(t *testing.T) {
	in(t, []*api.Registration{node("a", 2)}, func(w *world) {
		w.do(&state.Command{PutQueue: &state.Queue{Name: "urgent", Priority: 10, Preempts: true}})
		low := w.submit("resources: {cpu: 2}\ntimeLimit: 1h")[0]
		w.pass(10 * time.Second)
		high := w.submit("resources: {cpu: 2}\nqueue: urgent")[0]
		w.pass(500 * time.Millisecond) // the other is ending
		require.Equal(t, "COMPLETING PENDING", w.states(low, high))
		require.Equal(t, "others are asked to leave node a for it; 0 of 1 nodes fit: not enough cpu free (1)", w.message(high))
		w.pass(time.Minute)
		var ends []string
		for r := range w.state.View().RecordsOf(low) {
			ends = append(ends, r.Outcome.Message)
		}
		require.Equal(t, []string{"it makes room for job 2, which has a higher priority"}, ends)
		require.Equal(t, "0 of 1 nodes fit: not enough cpu free (1)", w.message(low), "nobody asked whether it may preempt")
	})
}

// explains is the explanation of the first element of a job.
func (w *world) explains(id job.ID) *api.Explanation {
	v := w.state.View()
	x, err := w.leader.Explain(v, v.Job(id), 0)
	require.NoError(w.t, err)
	return x
}

// reasonsAgainst is what speaks against a node.
func reasonsAgainst(x *api.Explanation, name string) string {
	var out []string
	for _, n := range x.Nodes {
		for _, v := range n.Verdicts {
			if n.Node == name {
				out = append(out, v.Reasons...)
			}
		}
	}
	return strings.Join(out, ", ")
}

// withoutPlugins leaves out what only programs read.
func withoutPlugins(nodes []api.NodeVerdict) []api.NodeVerdict {
	for i := range nodes {
		for k := range nodes[i].Verdicts {
			nodes[i].Verdicts[k].Plugin = ""
		}
	}
	return nodes
}
