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

// reserve makes a reservation of nodes for ann, from so long after now.
func (w *world) reserve(name string, after, lasts time.Duration, nodes ...string) *api.Reservation {
	from := time.Now().Add(after)
	r := &api.Reservation{Name: name, Nodes: nodes, From: from, To: from.Add(lasts), Users: []string{"ann"}}
	w.do(&state.Command{AddReservation: r})
	w.pass(time.Second)
	return r
}

// whyNot is why the first element of a job waits, in words.
func (w *world) whyNot(id job.ID) string {
	v := w.state.View()
	_, message := w.leader.Why(v, v.Job(id), 0)
	return message
}

// Before a reservation begins, others use its nodes as far as they end before it. While it
// is on, jobs that name it have them, and wait for it until then. After it, everybody has
// them again, but for those that name it.
func TestReservation(t *testing.T) {
	in(t, []*api.Registration{node("a", 2), node("b", 2)}, func(w *world) {
		w.runs = func(k *state.Task) run { return run{lasts: 20 * time.Minute, ends: job.Completed} }
		w.reserve("course", 2*time.Hour, 2*time.Hour, "a")
		onA := "\nnodes: [a]"
		ids := w.submit(
			"timeLimit: 1h"+onA, "timeLimit: 3h"+onA, "name: endless"+onA,
			"timeLimit: 1h\nreservation: course", "timeLimit: 1h\nreservation: course\nnodes: [b]", "timeLimit: 3h\nreservation: course")
		w.pass(time.Minute)
		require.Equal(t, "RUNNING PENDING PENDING PENDING PENDING PENDING", w.states(ids...))
		require.Regexp(t, `^0 of 2 nodes fit: .*is set aside by reservation course from \S+ until \S+, which the job does not name or would run into \(1\)`, w.whyNot(ids[1]))
		require.Contains(t, w.whyNot(ids[2]), "is set aside by reservation course")
		require.Equal(t, job.ReasonReservation, w.why(ids[3]))
		require.Regexp(t, `^reservation course begins at \d{4}-`, w.whyNot(ids[3]))

		w.pass(2 * time.Hour) // it has begun
		require.Equal(t, "COMPLETED PENDING PENDING RUNNING PENDING PENDING", w.states(ids...))
		require.Equal(t, []string{ids[3].String() + "_0.1.0@a"}, w.where())
		require.Contains(t, w.whyNot(ids[4]), "is not set aside by reservation course now")
		require.Contains(t, w.whyNot(ids[5]), "it can never start in reservation course, which lasts 2h")
		require.Equal(t, job.ReasonReservation, w.why(ids[5]))
		v := w.state.View()
		x, err := w.leader.Explain(v, v.Job(ids[5]), 0)
		require.NoError(t, err)
		at := slices.IndexFunc(x.Nodes, func(n api.NodeVerdict) bool { return n.Node == "a" }) // in any order
		require.GreaterOrEqual(t, at, 0)
		require.Contains(t, fmt.Sprint(x.Nodes[at].Verdicts), "in which the job would not end")
		require.NotContains(t, fmt.Sprint(x.Nodes[at].Verdicts), "does not name")

		w.pass(2 * time.Hour) // it is over
		require.Equal(t, "COMPLETED RUNNING RUNNING COMPLETED PENDING PENDING", w.states(ids...))
		require.Regexp(t, `^reservation course is over since \d{4}-`, w.whyNot(ids[4]))
		require.Equal(t, job.ReasonReservation, w.why(ids[5]))
	})
}

// A reservation of amounts leaves the rest of its nodes to others, and has its own when it is asked for.
func TestReservationOfAmounts(t *testing.T) {
	in(t, []*api.Registration{node("a", 3)}, func(w *world) {
		w.runs = func(k *state.Task) run { return run{lasts: 50 * time.Minute, ends: job.Completed} }
		two, from := job.MilliCPU(2000), time.Now()
		w.do(&state.Command{AddReservation: &api.Reservation{
			Name: "class", Nodes: []string{"a"}, Keep: &api.Amounts{CPU: &two}, From: from, To: from.Add(2 * time.Hour), Users: []string{"ann"},
		}})
		w.pass(time.Second)
		others := w.submit("timeLimit: 1h", "timeLimit: 1h")
		w.pass(time.Minute)
		require.Equal(t, "RUNNING PENDING", w.states(others...))
		require.Regexp(t, `has too little cpu beside what reservation class keeps from \S+ until \S+`, w.whyNot(others[1]))

		class := w.submit("timeLimit: 1h\nreservation: class", "timeLimit: 1h\nreservation: class")
		w.pass(time.Minute)
		require.Equal(t, "RUNNING RUNNING", w.states(class...))
		w.pass(50 * time.Minute)
		require.Equal(t, "COMPLETED RUNNING", w.states(others...))
	})
}

// A job that fits beside no hold on all nodes, but after it, is promised that.
func TestPromiseBehindReservation(t *testing.T) {
	in(t, []*api.Registration{node("a", 2)}, func(w *world) {
		r := w.reserve("course", time.Hour, time.Hour, "a")
		id := w.submit("timeLimit: 90m")[0]
		w.pass(time.Minute)
		v := w.state.View()
		start, nodes, ok := w.leader.Expected(v, v.Job(id), 0)
		require.True(t, ok)
		require.Equal(t, []string{"a"}, nodes)
		require.WithinDuration(t, r.To, start, time.Second)
		w.pass(time.Until(r.To) + 10*time.Second)
		require.Equal(t, "RUNNING", w.states(id))
	})
}

// A user who is not on the list may not use a reservation, whatever labels jobs have, and nobody
// may use one without users.
func TestReservationIsForItsUsers(t *testing.T) {
	in(t, []*api.Registration{node("a", 4)}, func(w *world) {
		now := time.Now()
		for name, users := range map[string][]string{"bobs": {"bob"}, "nobodys": nil} {
			w.do(&state.Command{AddReservation: &api.Reservation{Name: name, Nodes: []string{"a"}, From: now, To: now.Add(time.Hour), Users: users}})
		}
		ids := w.submit("timeLimit: 1m\nreservation: bobs", "timeLimit: 1m\nreservation: nobodys", "timeLimit: 1m\nlabels: {berth/reservation: bobs}")
		w.pass(time.Minute)
		require.Equal(t, "PENDING PENDING PENDING", w.states(ids...))
		require.Equal(t, "user ann may not use reservation bobs", w.whyNot(ids[0]))
		require.Equal(t, "user ann may not use reservation nobodys", w.whyNot(ids[1]))
		require.Contains(t, w.whyNot(ids[2]), "is set aside by reservation")
	})
}

// What repeats is on every day, and jobs that name it wait from one to the next.
func TestReservationRepeats(t *testing.T) {
	in(t, []*api.Registration{node("a", 1)}, func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: 40 * time.Minute, ends: job.Completed} }
		from := time.Now().Add(time.Hour)
		w.do(&state.Command{AddReservation: &api.Reservation{
			Name: "daily", Constraints: []job.Constraint{{Label: "node", Values: []string{"a"}}}, From: from, To: from.Add(time.Hour),
			Users: []string{"ann"}, Repeat: api.RepeatDaily,
		}})
		ids := w.submit("timeLimit: 45m\nreservation: daily", "timeLimit: 45m\nreservation: daily", "timeLimit: 24h")
		w.pass(time.Hour + time.Minute)
		require.Equal(t, "RUNNING PENDING PENDING", w.states(ids...))
		w.pass(time.Hour)
		require.Equal(t, "COMPLETED PENDING PENDING", w.states(ids...))
		require.Equal(t, job.ReasonReservation, w.why(ids[1]))
		w.pass(23 * time.Hour)
		require.Equal(t, "COMPLETED RUNNING PENDING", w.states(ids...))
		w.pass(2 * time.Hour)
		require.Contains(t, w.whyNot(ids[2]), "is set aside by reservation daily", "it would run into the next")
		known := w.leader.HoldsUntil()
		w.pass(48 * time.Hour)
		require.Equal(t, known.Add(48*time.Hour), w.leader.HoldsUntil(), "as far ahead as before")
		require.Contains(t, w.whyNot(ids[2]), "is set aside by reservation daily")
	})
}

// Deleted and made anew with other nodes, a reservation is the new one. A new leader knows it.
func TestReservationIsReplaced(t *testing.T) {
	in(t, []*api.Registration{node("a", 1), node("b", 1)}, func(w *world) {
		r := w.reserve("course", 0, 10*time.Hour, "a")
		first := w.submit("timeLimit: 1h\nreservation: course")[0]
		w.pass(time.Second)
		require.Equal(t, "RUNNING", w.states(first))
		second := w.submit("timeLimit: 1h\nreservation: course")[0]
		w.do(&state.Command{RemoveReservation: "course"})
		w.pass(time.Second)
		require.Equal(t, "RUNNING PENDING", w.states(first, second), "it ends nothing")
		require.True(t, strings.HasPrefix(w.whyNot(second), "there is no reservation course any more"))
		r.Nodes = []string{"b"}
		w.do(&state.Command{AddReservation: r})
		w.lead()
		w.pass(time.Second)
		require.Equal(t, []string{first.String() + "_0.1.0@a", second.String() + "_0.1.0@b"}, w.where())
	})
}

// A job behind one that runs and before a reservation is promised the time after it, also
// when the order has been another meanwhile.
func TestPromiseBehindBoth(t *testing.T) {
	for _, other := range []bool{false, true} {
		in(t, []*api.Registration{node("a", 2)}, func(w *world) {
			w.runs = func(*state.Task) run { return run{lasts: 3 * time.Hour, ends: job.Completed} }
			ids := w.submit("timeLimit: 1h\nresources: {cpu: 2}", "timeLimit: 1h\nresources: {cpu: 2}")
			w.pass(10 * time.Second)
			if other {
				w.do(&state.Command{PutQueue: &api.Queue{Name: "q", Weight: 2}})
				w.pass(10 * time.Second)
				w.do(&state.Command{RemoveQueue: "q"})
				w.pass(10 * time.Second)
			}
			r := w.reserve("course", 110*time.Minute, time.Hour, "a")
			w.pass(10 * time.Second)
			v := w.state.View()
			start, _, ok := w.leader.Expected(v, v.Job(ids[1]), 0)
			require.True(t, ok, "after another order: %v", other)
			require.Equal(t, r.To.UTC(), start.UTC())
		})
	}
}
