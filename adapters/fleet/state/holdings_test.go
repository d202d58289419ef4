package state_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/model/modeltest"
)

// world is a state that commands are applied to.
type world struct {
	t testing.TB
	*state.State
	index uint64
	now   time.Time
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, State: state.New(nil), now: time.Unix(1_000_000, 0).UTC()}
	w.must(&state.Command{Register: &api.Registration{Node: "n0", Boot: "1", Machine: api.Machine{CPU: 1 << 40, Memory: 1 << 40, Disk: 1 << 40}}})
	return w
}

func (w *world) do(c *state.Command) state.Result {
	w.t.Helper()
	w.index++
	c.At = w.now
	text, err := c.Encode()
	require.NoError(w.t, err)
	return w.Apply(w.index, 1, [][]byte{text})[0].(state.Result)
}

func (w *world) must(c *state.Command) state.Result {
	w.t.Helper()
	r := w.do(c)
	require.Nil(w.t, r.Err)
	return r
}

// submit submits a job; the result may be a refusal.
func (w *world) submit(owner string, spec job.Spec) state.Result {
	w.t.Helper()
	if len(spec.Command) == 0 {
		spec.Command = []string{"x"}
	}
	return w.do(&state.Command{Submit: &state.Submit{Owner: owner, Specs: []job.Spec{spec.WithDefaults()}}})
}

// ran has a job of the owner run to its end.
func (w *world) ran(owner string) job.ID {
	w.t.Helper()
	r := w.submit(owner, job.Spec{})
	require.Nil(w.t, r.Err)
	id := job.TaskID{Job: r.Jobs[0], Attempt: 1}
	w.must(&state.Command{Place: &state.Place{Task: id, Node: "n0"}})
	w.must(&state.Command{Report: &state.Report{Node: "n0", Tasks: []api.Report{{Task: id, State: job.Completed}}}})
	return id.Job
}

// records counts the records by owner.
func (w *world) records() map[string]int {
	n := map[string]int{}
	for r := range w.View().RecordsAfter(0) {
		n[r.Owner]++
	}
	return n
}

// One who has many records does not push out those of others.
func TestRecordsAreCutFromWhoHasMost(t *testing.T) {
	w := newWorld(t)
	quiet := w.ran("quiet")
	for range 30 {
		w.ran("busy")
	}
	for range 10 {
		w.ran("other")
	}
	w.ran("quiet")
	purge := func(most int) {
		t.Helper()
		w.must(&state.Command{Purge: &state.Purge{Records: most}})
		checkRows(t, w.View())
	}
	purge(42)
	require.Equal(t, map[string]int{"quiet": 2, "busy": 30, "other": 10}, w.records(), "there is room")
	purge(27)
	require.Equal(t, map[string]int{"quiet": 2, "busy": 15, "other": 10}, w.records())
	purge(13)
	require.Equal(t, 2, w.records()["quiet"], "though its first was the oldest of all")
	require.Equal(t, 11, w.records()["busy"]+w.records()["other"])
	require.False(t, w.View().Job(quiet).Cut)
	require.True(t, w.View().Job(quiet+1).Cut, "the oldest of who has most")
	purge(0)
	require.Empty(t, w.records())
}

// What is taken of counts leaves the largest as small as can be.
func TestFromTheLargest(t *testing.T) {
	seed := modeltest.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		counts := map[string]int64{}
		var sum int64
		for i := range 1 + rng.IntN(8) {
			n := int64(rng.IntN(20))
			counts[fmt.Sprint(i)] = n
			sum += n
		}
		if sum == 0 {
			continue
		}
		take := 1 + rng.Int64N(sum)
		got := state.FromTheLargest(counts, take)
		require.Equal(t, got, state.FromTheLargest(counts, take))
		// One after the other, from whoever has most.
		left := slices.Sorted(maps.Values(counts))
		for range take {
			left[len(left)-1]--
			slices.Sort(left)
		}
		var taken int64
		var have []int64
		for owner, n := range counts {
			require.GreaterOrEqual(t, got[owner], int64(0))
			taken += got[owner]
			have = append(have, n-got[owner])
		}
		slices.Sort(have)
		require.Equal(t, take, taken)
		require.Equal(t, left, have)
	}
}

// Tokens and revocations are forgotten when they are over, by the time of commands.
func TestExpiredTokensArePurged(t *testing.T) {
	w := newWorld(t)
	put := func(id string, expires time.Time, join bool) {
		w.must(&state.Command{PutToken: &state.Token{TokenInfo: api.TokenInfo{ID: id, Expires: expires}, Hash: []byte(id), Join: join}})
	}
	put("bearer", w.now.Add(time.Minute), false)
	put("join", w.now.Add(time.Minute), true)
	put("later", w.now.Add(time.Hour), true)
	put("ever", time.Time{}, false)
	left := func() (ids []string) {
		w.must(&state.Command{Purge: &state.Purge{}})
		for k := range w.View().Tokens() {
			ids = append(ids, k.ID)
		}
		return ids
	}
	w.must(&state.Command{Revoke: &api.Revocation{ID: "user/eve", Created: w.now, Expires: w.now.Add(time.Minute)}})
	w.must(&state.Command{Revoke: &api.Revocation{ID: "user/eve", Created: w.now.Add(-time.Minute), Expires: w.now}})
	require.Equal(t, []string{"bearer", "ever", "join", "later"}, left())
	require.Equal(t, w.now, w.View().Revocation("user/eve").Created, "the later times count")
	w.now = w.now.Add(time.Minute)
	require.Equal(t, []string{"ever", "later"}, left())
	require.Nil(t, w.View().Revocation("user/eve"), "certificates end by themselves")
	w.now = w.now.Add(1000 * time.Hour)
	require.Equal(t, []string{"ever"}, left())
}

// Every queue has a limit of jobs, unless its operator wants none.
func TestMaxQueued(t *testing.T) {
	w := newWorld(t)
	specs := make([]job.Spec, 1000)
	for i := range specs {
		s := job.Spec{Command: []string{"x"}}
		specs[i] = s.WithDefaults()
	}
	batch := func(owner string) state.Result {
		return w.do(&state.Command{Submit: &state.Submit{Owner: owner, Specs: specs}})
	}
	for range api.DefaultMaxQueued / len(specs) {
		require.Nil(t, batch("ann").Err)
	}
	r := w.submit("ann", job.Spec{})
	require.Equal(t, api.CodeConflict, r.Err.Code)
	require.Contains(t, r.Err.Message, "50000")
	require.Nil(t, w.submit("bob", job.Spec{}).Err, "others are not concerned")
	// One that has ended makes room for one, and one that waits again takes it.
	w.must(&state.Command{Cancel: &state.Cancel{Select: state.Select{Job: 7}, State: job.Cancelled}})
	require.Nil(t, w.submit("ann", job.Spec{}).Err)
	require.NotNil(t, w.submit("ann", job.Spec{}).Err)

	w.must(&state.Command{PutQueue: &api.Queue{Name: job.DefaultQueue, MaxQueued: -1}})
	require.Nil(t, batch("ann").Err)
	w.must(&state.Command{PutQueue: &api.Queue{Name: "night", MaxQueued: 1}})
	require.Nil(t, w.submit("ann", job.Spec{Queue: "night"}).Err)
	require.NotNil(t, w.submit("ann", job.Spec{Queue: "night"}).Err)
	// A gang counts by its tasks.
	w.must(&state.Command{PutQueue: &api.Queue{Name: "large", MaxQueued: 10}})
	require.Nil(t, w.submit("ann", job.Spec{Queue: "large", Tasks: 8}).Err)
	require.NotNil(t, w.submit("ann", job.Spec{Queue: "large", Tasks: 3}).Err)
	require.Nil(t, w.submit("ann", job.Spec{Queue: "large", Tasks: 2}).Err)
	// A restored state counts the same.
	w.State = restored(t, w.State)
	require.NotNil(t, w.submit("ann", job.Spec{Queue: "night"}).Err)
	require.Nil(t, w.submit("bob", job.Spec{Queue: "night"}).Err)
}

// A user's limit is that of the most generous queue that is open to her, and housekeeping
// keeps to it. What an older program proposed is taken as it was then.
func TestStoredByQueues(t *testing.T) {
	w := newWorld(t)
	script := job.Spec{Script: "#!/bin/sh\n" + strings.Repeat("#", 200_000)}
	ended := func(n int) {
		for range n {
			r := w.do(&state.Command{Submit: &state.Submit{Owner: "ann", Specs: []job.Spec{script.WithDefaults()}}})
			require.Nil(t, r.Err, "the limit of queues is not that of the log")
			w.must(&state.Command{Cancel: &state.Cancel{Select: state.Select{Job: r.Jobs[0]}, State: job.Cancelled}})
		}
	}
	left := func(purge state.Purge) int {
		w.must(&state.Command{Purge: &purge})
		return len(slices.Collect(w.View().Jobs()))
	}
	ended(400)
	require.EqualValues(t, 64<<20, w.View().StoredLimit("ann"))
	require.Greater(t, w.View().Stored("ann"), int64(64<<20))
	require.Equal(t, 400, left(state.Purge{Records: 10}))
	w.must(&state.Command{PutQueue: &api.Queue{Name: "large", MaxStored: 200 << 20, Users: []string{"ann"}}})
	require.Equal(t, 400, left(state.Purge{Records: 10, ByQueues: true}))
	w.must(&state.Command{PutQueue: &api.Queue{Name: "large", MaxStored: 200 << 20, Users: []string{"bob"}}})
	require.EqualValues(t, 200<<20, w.View().StoredLimit("bob"))
	require.InDelta(t, 32<<20/200_000, left(state.Purge{Records: 10, ByQueues: true}), 1)
	require.LessOrEqual(t, w.View().Stored("ann"), int64(32<<20))
	checkHoldings(t, w.View())
}

// What the jobs of a user take is limited in bytes, too, until they are forgotten.
func TestMaxStored(t *testing.T) {
	w := newWorld(t)
	sparse, err := job.ParseArray("0-9999990:10") // a million elements, in 9,766 chunks
	require.NoError(t, err)
	spec := job.Spec{Array: sparse, Script: "#!/bin/sh\n" + strings.Repeat("#", 200_000)}
	spec.Command = nil
	var last state.Result
	taken := 0
	for ; last.Err == nil; taken++ {
		require.Less(t, taken, 200)
		last = w.do(&state.Command{Submit: &state.Submit{Owner: "ann", Specs: []job.Spec{spec.WithDefaults()}}})
	}
	require.Equal(t, api.CodeConflict, last.Err.Code)
	require.Contains(t, last.Err.Message, "1Gi")
	require.InDelta(t, state.MaxStored/(9766*1024+200_000), taken, 3, "what an array's chunks will take counts from the beginning")
	require.Nil(t, w.submit("bob", job.Spec{}).Err)

	// Those that have ended count as long as they are there; housekeeping forgets the
	// oldest of them, before their time.
	for id := range job.ID(taken - 1) {
		w.must(&state.Command{Cancel: &state.Cancel{Select: state.Select{Job: id + 1}, State: job.Cancelled}})
		require.NotNil(t, w.do(&state.Command{Submit: &state.Submit{Owner: "ann", Specs: []job.Spec{spec.WithDefaults()}}}).Err)
		if id == 2 {
			break // the others wait
		}
	}
	w.must(&state.Command{Purge: &state.Purge{Records: 10}})
	require.Nil(t, w.View().Job(1))
	require.NotNil(t, w.View().Job(4), "it waits")
	require.Nil(t, w.submit("ann", job.Spec{}).Err)
	require.Nil(t, w.do(&state.Command{Submit: &state.Submit{Owner: "ann", Specs: []job.Spec{spec.WithDefaults()}}}).Err)
	checkHoldings(t, w.View())
}
