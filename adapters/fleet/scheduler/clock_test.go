package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// underWrongClock submits a job, which is tried on a node, while the leader's clock is wrong
// by so much. Then it is right.
func (w *world) underWrongClock(wrong time.Duration, node string) job.ID {
	w.stop() // its controller would go by the right clock
	set := func(skew time.Duration) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.skew = skew
	}
	set(wrong)
	id := w.submit("")[0]
	w.do(&state.Command{Place: &state.Place{Task: job.TaskID{Job: id, Attempt: 1}, Node: node}})
	w.pass(time.Second)
	set(0)
	w.lead()
	return id
}

// A leader's clock that was hours ahead, or behind, for a while costs no job its tries, and
// keeps none waiting: neither what was begun then, nor what comes after it.
func TestJobsAfterAWrongClock(t *testing.T) {
	for _, wrong := range []time.Duration{6 * time.Hour, -6 * time.Hour, 30 * time.Minute} {
		in(t, two(), func(w *world) {
			w.broken("a", "b")
			ids := []job.ID{w.underWrongClock(wrong, "a"), w.submit("")[0]}
			w.pass(40 * time.Second)
			for _, id := range ids {
				n := len(w.tries(id))
				require.True(t, 3 <= n && n <= 4, "%d tries, wrong by %v: pauses are 10 s, 20 s, 40 s", n, wrong)
			}
			w.broken()
			w.pass(3 * time.Minute)
			require.Equal(t, "COMPLETED COMPLETED", w.states(ids...), "wrong by %v", wrong)
		})
	}
}

// What a node claimed by a wrong clock is remembered: the job is not tried there again.
func TestClaimsByAWrongClock(t *testing.T) {
	for _, wrong := range []time.Duration{6 * time.Hour, 30 * time.Minute} {
		in(t, two(), func(w *world) {
			w.unmounted("a")
			w.runs = slowOn(w.runs, "b", time.Minute)
			w.submit("nodes: [b]\nresources: {cpu: 2}")
			w.pass(time.Second)
			id := w.underWrongClock(wrong, "a")
			w.pass(3 * time.Minute)
			require.Equal(t, []string{"a", "b"}, w.tries(id))
			require.Equal(t, "COMPLETED", w.states(id))
		})
	}
}
