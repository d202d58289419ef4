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

// of submits jobs of somebody.
func (w *world) of(owner string, count int, file string) (ids []job.ID) {
	for range count {
		parsed, err := job.Parse(strings.NewReader("command: [x]\n" + file))
		require.NoError(w.t, err)
		ids = append(ids, w.do(&state.Command{Submit: &state.Submit{Specs: []job.Spec{parsed[0].WithDefaults()}, Owner: owner}}).Jobs...)
	}
	return ids
}

// running counts the tasks under way by owner and queue.
func (w *world) running() map[string]int {
	out := map[string]int{}
	v := w.state.View()
	for k := range v.Tasks() {
		j := v.Job(k.ID.Job)
		out[j.Owner]++
		out["queue "+j.Spec.Queue]++
	}
	return out
}

// ran counts the attempts that have ended by owner.
func (w *world) ran() map[string]int {
	out := map[string]int{}
	for r := range w.state.View().RecordsAfter(0) {
		out[r.Owner]++
	}
	return out
}

func cores(n int) *api.Amounts {
	cpu := job.MilliCPU(n * 1000)
	return &api.Amounts{CPU: &cpu}
}

const minute = "timeLimit: 2m"

// Without any tree the first in line goes, whoever has how many. With one, even an account
// that nobody is in, users have equal shares; with weights, shares by weight.
func TestUsersShare(t *testing.T) {
	for name, test := range map[string]struct {
		said []*state.Command
		want map[string]int // starts of 120
	}{
		"nothing is said":  {nil, map[string]int{"ann": 120}},
		"an account":       {[]*state.Command{{PutAccount: &api.Account{Name: "uni"}}}, map[string]int{"ann": 40, "bob": 40, "eve": 40}},
		"weights of users": {[]*state.Command{{PutUser: &api.User{Name: "bob", Weight: 4}}}, map[string]int{"ann": 20, "bob": 80, "eve": 20}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, []*api.Registration{node("a", 6), node("b", 6)}, func(w *world) {
				for _, c := range test.said {
					w.do(c)
				}
				w.of("ann", 300, minute)
				w.of("bob", 200, minute)
				w.of("eve", 100, minute)
				w.pass(90 * time.Second) // ann was there first, and alone
				before := w.ran()
				w.pass(10 * time.Minute)
				got := w.ran()
				for owner, n := range test.want {
					require.InDelta(t, n, got[owner]-before[owner], 2, "%s of %v", owner, got)
				}
			})
		})
	}
}

// Queues share by weight, and what a queue is guaranteed and does not lend nobody else has.
func TestQueuesShareAndKeep(t *testing.T) {
	in(t, []*api.Registration{node("a", 8), node("b", 8)}, func(w *world) {
		w.do(&state.Command{PutQueue: &api.Queue{Name: "uni", Guaranteed: cores(12)}})
		w.do(&state.Command{PutQueue: &api.Queue{Name: "physics", Parent: "uni", Weight: 3}})
		w.do(&state.Command{PutQueue: &api.Queue{Name: "art", Parent: "uni", Weight: 1}})
		w.do(&state.Command{PutQueue: &api.Queue{Name: "urgent", Guaranteed: cores(4), Lend: cores(0)}})
		physics, art := minute+"\nqueue: physics", minute+"\nqueue: art"
		w.of("ann", 200, physics)
		w.of("bob", 200, art)
		w.pass(90 * time.Second) // ann was there first, and alone
		require.Equal(t, map[string]int{"ann": 9, "queue physics": 9, "bob": 3, "queue art": 3}, w.running())
		waits := w.of("ann", 1, physics)[0]
		w.pass(time.Second)
		require.Equal(t, job.ReasonQueueLimit, w.why(waits))
		require.Contains(t, w.whyNot(waits), "what is left is guaranteed to queue urgent: job ")
		require.Contains(t, w.whyNot(waits), "asks for 1 core too much now")
		w.of("eve", 4, minute+"\nqueue: urgent")
		w.pass(time.Second)
		require.Equal(t, 4, w.running()["queue urgent"], "at once")
		w.of("eve", 100, minute+"\nqueue: urgent")
		w.pass(2 * time.Minute)
		require.GreaterOrEqual(t, w.running()["queue urgent"], 4)
	})
}

// Limits of users, accounts with accounts below them, and queues hold; raised, they let more
// start at once. What can never be is said.
func TestLimits(t *testing.T) {
	two, three := int64(2), int64(3)
	in(t, []*api.Registration{node("a", 32)}, func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: time.Hour, ends: job.Completed} }
		w.do(&state.Command{PutAccount: &api.Account{Name: "uni"}})
		w.do(&state.Command{PutAccount: &api.Account{Name: "lab", Parent: "uni"}})
		w.do(&state.Command{PutUser: &api.User{Name: "ann", Account: "lab"}})
		w.do(&state.Command{PutUser: &api.User{Name: "bob", Account: "uni"}})
		w.do(&state.Command{PutLimit: &api.Limit{Name: "campus", Account: "uni", Use: cores(10)}})
		w.do(&state.Command{PutLimit: &api.Limit{Name: "anns", User: "ann", Running: &three}})
		w.do(&state.Command{PutLimit: &api.Limit{Name: "each", Queue: job.DefaultQueue, Each: api.EachUser, Running: &two}})
		w.do(&state.Command{PutLimit: &api.Limit{Name: "small", Queue: job.DefaultQueue, Each: api.EachTask, Use: cores(8)}})
		w.do(&state.Command{PutQueue: &api.Queue{Name: "wide"}})
		long := "timeLimit: 2h"
		anns := w.of("ann", 5, long+"\nqueue: wide")
		bobs := w.of("bob", 5, long+"\nqueue: wide\nresources: {cpu: 2}")
		eves := w.of("eve", 5, long)
		huge := w.of("zoe", 1, long+"\nresources: {cpu: 9}")[0]
		w.pass(time.Second)
		require.Equal(t, map[string]int{"ann": 3, "bob": 3, "eve": 2, "queue wide": 6, "queue default": 2}, w.running())
		require.Equal(t, fmt.Sprintf("limit anns: job %d is 1 task too many now", anns[3]), w.whyNot(anns[4]))
		require.Equal(t, fmt.Sprintf("limit campus: job %d asks for 1 core too much now", bobs[3]), w.whyNot(bobs[4]))
		require.Equal(t, fmt.Sprintf("limit each: job %d is 1 task too many now", eves[2]), w.whyNot(eves[4]))
		require.Equal(t, "it asks for more than limit small ever allows", w.whyNot(huge))
		require.Equal(t, job.ReasonBadConstraints, w.why(huge))

		w.do(&state.Command{PutLimit: &api.Limit{Name: "campus", Account: "uni", Use: cores(14)}})
		w.do(&state.Command{RemoveLimit: "small"})
		w.pass(time.Second)
		require.Equal(t, 5, w.running()["bob"])
		require.Equal(t, 2, w.running()["eve"])
		w.do(&state.Command{RemoveLimit: "each"})
		w.pass(time.Second)
		require.Equal(t, 5, w.running()["eve"])
		require.Equal(t, 1, w.running()["zoe"])
	})
}

// A tree that comes and goes under load changes the order alone: everything runs, nothing twice.
func TestOrderChangesUnderLoad(t *testing.T) {
	in(t, []*api.Registration{node("a", 4), node("b", 4)}, func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: 3 * time.Second, ends: job.Completed} }
		ids := slices.Concat(w.of("ann", 100, minute), w.of("bob", 50, minute+"\ntasks: 2"), w.of("bob", 50, minute))
		for range 10 {
			w.pass(3*time.Second + 700*time.Millisecond)
			w.do(&state.Command{PutQueue: &api.Queue{Name: "night", Weight: 2}})
			w.pass(2 * time.Second)
			w.do(&state.Command{RemoveQueue: "night"})
		}
		w.pass(10 * time.Minute)
		for _, id := range ids {
			require.Equal(t, "COMPLETED", w.states(id), "job %d", id)
			e := w.state.View().LastRecord(id, 0)
			require.EqualValues(t, 1, e.Attempt, "job %d was tried again", id)
		}
		for id, n := range w.began {
			require.Equal(t, 1, n, "task %s", id)
		}
	})
}

// By queues, too, what needs much room at once has room kept for it, and starts by the time
// that it is promised, however many small jobs others submit after it.
func TestWideJobAmongShares(t *testing.T) {
	in(t, []*api.Registration{node("a", 4), node("b", 4)}, func(w *world) {
		w.do(&state.Command{PutAccount: &api.Account{Name: "uni"}})
		w.of("ann", 8, minute)
		w.pass(30 * time.Second)
		wide := w.of("eve", 1, minute+"\ntasks: 2\nresources: {cpu: 4}")[0]
		w.of("ann", 60, minute)
		w.of("bob", 60, minute)
		w.pass(5 * time.Second)
		v := w.state.View()
		start, nodes, ok := w.leader.Expected(v, v.Job(wide), 0)
		require.True(t, ok, "nothing is promised")
		require.Equal(t, []string{"a", "b"}, nodes)
		w.pass(time.Until(start) + 5*time.Second)
		require.False(t, w.placed(wide).IsZero(), "it has not started by %v", start)
	})
}

// Three users of equal weight with very different submissions have equal parts: Jain's
// index of the slots that they have, taken each second for two minutes, is at least 0.98.
func TestEqualSharesOfSlots(t *testing.T) {
	in(t, []*api.Registration{node("a", 6), node("b", 6)}, func(w *world) {
		w.runs = func(k *state.Task) run {
			return run{lasts: time.Duration(2+k.ID.Job%7) * time.Second, ends: job.Completed}
		}
		w.do(&state.Command{PutAccount: &api.Account{Name: "uni"}})
		w.of("ann", 300, "timeLimit: 1m")
		w.of("bob", 150, "timeLimit: 1m")
		w.of("eve", 150, "timeLimit: 1m")
		w.pass(time.Minute)
		slots := map[string]int{}
		for range 120 {
			for owner, n := range w.running() {
				slots[owner] += n
			}
			w.pass(time.Second)
		}
		var sum, squares float64
		for _, owner := range []string{"ann", "bob", "eve"} {
			x := float64(slots[owner])
			sum, squares = sum+x, squares+x*x
		}
		jain := sum * sum / (3 * squares)
		t.Logf("Jain's index %.4f, utilisation %.3f: %v", jain, sum/(120*12), slots)
		require.GreaterOrEqual(t, jain, 0.98, "%v", slots)
	})
}
