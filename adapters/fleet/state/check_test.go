package state_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// checkRows checks that the rows of a state agree with each other.
func checkRows(t testing.TB, v state.View) {
	t.Helper()
	for j := range v.Jobs() {
		checkJob(t, v, j)
	}
	for n := range v.Nodes() {
		checkNode(t, v, n)
		checkFailedStarts(t, v, n)
	}
	checkHoldings(t, v)
	checkTree(t, v)
	for k := range v.Tasks() {
		e := v.Element(k.ID.Job, k.ID.Element)
		require.NotNil(t, e, "task %s has no element", k.ID)
		require.Equal(t, e.Attempt, k.ID.Attempt, "task %s is of an old attempt", k.ID)
		require.Equal(t, k.Node, e.Nodes[k.ID.Rank])
		require.NotNil(t, v.Node(k.Node), "task %s is on node %s, which is not there", k.ID, k.Node)
	}
}

// checkFailedStarts finds those that could not start what a node could not, one by one.
func checkFailedStarts(t testing.TB, v state.View, n *state.Node) {
	t.Helper()
	for _, f := range n.FailedStarts {
		var want []string
		for other := range v.Nodes() {
			if slices.ContainsFunc(other.FailedStarts, func(o state.FailedStart) bool { return o.Job == f.Job && o.Element == f.Element }) {
				want = append(want, other.Node)
			}
		}
		var got []string
		for other := range v.FailedToStart(&state.Element{Job: f.Job, Index: f.Element}) {
			got = append(got, other.Node)
		}
		require.Equal(t, want, got, "job %d, element %d", f.Job, f.Element)
	}
}

// checkHoldings adds up what the servers have of each user.
func checkHoldings(t testing.TB, v state.View) {
	t.Helper()
	want := map[string]state.Holding{}
	for j := range v.Jobs() {
		h := want[j.Owner]
		h.Stored += j.Stored
		if !j.Done() {
			if h.Queued == nil {
				h.Queued = map[string]int32{}
			}
			h.Queued[j.Spec.Queue] += j.Spec.Tasks
		}
		want[j.Owner] = h
	}
	for r := range v.RecordsAfter(0) {
		h := want[r.Owner]
		h.Records++
		want[r.Owner] = h
	}
	got := v.Holdings()
	for owner, h := range got {
		if len(h.Queued) == 0 {
			h.Queued = nil
			got[owner] = h
		}
	}
	require.Equal(t, want, got)
}

// checkJob recounts the elements of a job.
func checkJob(t testing.TB, v state.View, j *state.Job) {
	t.Helper()
	want := map[job.State]int32{}
	var heldOnes int32
	indexes := []int32{0}
	if !j.Spec.Array.IsZero() {
		indexes = slices.Collect(j.Spec.Array.All())
	}
	for _, i := range indexes {
		s, isHeld := v.StateOf(j, i)
		want[s]++
		if isHeld {
			heldOnes++
		}
		checkElement(t, v, j, i)
	}
	require.Equal(t, want, j.Counts.ByState(), "job %d", j.ID)
	require.Equal(t, heldOnes, j.HeldElements, "job %d", j.ID)
	require.Equal(t, j.Done(), !j.Ended.IsZero(), "job %d", j.ID)
}

// checkElement recounts the tasks of an element.
func checkElement(t testing.TB, v state.View, j *state.Job, index int32) {
	t.Helper()
	e := v.Element(j.ID, index)
	if e == nil {
		return
	}
	ks := slices.Collect(v.AttemptTasks(job.TaskID{Job: j.ID, Element: index, Attempt: e.Attempt}))
	require.False(t, e.State.Ended(), "an ended element has a row")
	tries := int32(0)
	for range v.RecordsOfElement(j.ID, index) {
		tries++
	}
	if e.State != job.Pending {
		tries++ // the one under way
	}
	if !j.Cut {
		require.Equal(t, tries-int32(len(e.Claims)), e.Try(), "job %d, element %d, attempt %d", j.ID, index, e.Attempt)
	}
	if e.State == job.Pending {
		require.Empty(t, ks)
		return
	}
	require.Len(t, ks, int(e.Placed-e.Ended), "job %d, element %d", j.ID, index)
	complete := e.Placed == j.Spec.Tasks
	for _, k := range ks {
		require.Equal(t, complete, k.Ready, "task %s", k.ID)
		require.Equal(t, e.State == job.Completing, k.Stop != nil, "task %s", k.ID)
	}
}

// checkRoom checks that no node has more tasks than it has room for. Where a node has
// become smaller it may.
func checkRoom(t testing.TB, v state.View) {
	t.Helper()
	for n := range v.Nodes() {
		got := v.Used(n.Node)
		require.LessOrEqual(t, got.CPU, n.Machine.CPU)
		require.LessOrEqual(t, got.Tasks, n.Machine.MaxTasks)
	}
}

// checkNode adds up what the tasks of a node have.
func checkNode(t testing.TB, v state.View, n *state.Node) {
	t.Helper()
	var want api.Used
	gpus := make([]int64, job.MaxGPUs)
	for k := range v.TasksOn(n.Node) {
		r := &v.Job(k.ID.Job).Spec.Resources
		want.CPU += r.CPU
		want.Tasks++
		for _, g := range k.GPUs {
			gpus[g.GPU] += g.Share
		}
	}
	got := v.Used(n.Node)
	require.Equal(t, want.CPU, got.CPU, "node %s", n.Node)
	require.Equal(t, want.Tasks, got.Tasks, "node %s", n.Node)
	for i, share := range got.GPUs {
		require.Equal(t, gpus[i], share, "node %s, GPU %d", n.Node, i)
		require.LessOrEqual(t, share, int64(1000))
	}
}

// checkTree checks that every name in the tree of queues and accounts is there, and none
// is above itself.
func checkTree(t testing.TB, v state.View) {
	t.Helper()
	for _, q := range v.Queues() {
		for at, depth := q, 0; at.Parent != ""; depth++ {
			at = v.Queue(at.Parent)
			require.NotNil(t, at, "queue %s has a parent that is not there", q.Name)
			require.Less(t, depth, 100, "queue %s is below itself", q.Name)
		}
	}
	for a := range v.Accounts() {
		require.True(t, a.Queue == "" || v.Queue(a.Queue) != nil)
		for at, depth := a, 0; at.Parent != ""; depth++ {
			at = v.Account(at.Parent)
			require.NotNil(t, at, "account %s has a parent that is not there", a.Name)
			require.Less(t, depth, 100, "account %s is below itself", a.Name)
		}
	}
	for u := range v.Users() {
		require.True(t, u.Account == "" || v.Account(u.Account) != nil)
		require.True(t, u.Queue == "" || v.Queue(u.Queue) != nil)
	}
	for l := range v.Limits() {
		require.True(t, l.Queue == "" || v.Queue(l.Queue) != nil)
		require.True(t, l.Account == "" || v.Account(l.Account) != nil)
	}
}
