package state_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// Time follows the leaders' clocks: also back, where one was wrong, and not where two are a
// little apart.
func TestTimeFollowsTheClock(t *testing.T) {
	w := newWorld(t)
	right := w.now
	for _, c := range []struct{ clock, time time.Duration }{
		{10 * time.Second, 10 * time.Second},
		{-10 * time.Second, 10 * time.Second},
		{6 * time.Hour, 6 * time.Hour},
		{20 * time.Second, 20 * time.Second},
		{-6 * time.Hour, -6 * time.Hour},
		{30 * time.Second, 30 * time.Second},
	} {
		w.now = right.Add(c.clock)
		id := w.submit("ann", job.Spec{}).Jobs[0]
		require.Equal(t, right.Add(c.time), w.View().Job(id).Submitted, "%v", c.clock)
	}
}

// A pause is as long as ever after a leader's clock was wrong; one that began by that clock
// is over at once, where it is too long to be one.
func TestPausesAfterAWrongClock(t *testing.T) {
	fault := api.Report{State: job.BootFail, Message: "no space left on device"}
	for _, wrong := range []time.Duration{6 * time.Hour, -6 * time.Hour} {
		w := newWorld(t)
		right := w.now
		id := w.submit("ann", job.Spec{}).Jobs[0]
		wait := func() time.Duration {
			until := w.View().ElementWaits(w.View().Job(id), 0, w.now).Until
			if until.IsZero() {
				return 0
			}
			return until.Sub(w.now)
		}
		w.now = right.Add(wrong)
		w.tried(id, 0, fault, "n0")
		require.Equal(t, 10*time.Second, wait(), "by the wrong clock")
		w.now = right.Add(time.Second)
		require.Zero(t, wait())
		w.tried(id, 0, fault, "n0")
		require.Equal(t, 20*time.Second, wait())
		r := w.View().LastRecord(id, 0)
		require.False(t, r.Ended.Before(r.Placed))
	}
}

// An attempt does not end before it began, whatever the clock did meanwhile, and has used
// what its node says.
func TestAttemptOverAWrongClock(t *testing.T) {
	w := newWorld(t)
	right := w.now
	id := w.submit("ann", job.Spec{}).Jobs[0]
	w.now = right.Add(6 * time.Hour)
	k := job.TaskID{Job: id, Attempt: 1}
	w.must(&state.Command{Place: &state.Place{Task: k, Node: "n0"}})
	w.now = right.Add(time.Minute)
	said := api.Report{Task: k, State: job.Completed, Started: right, At: right.Add(time.Minute)}
	w.must(&state.Command{Report: &state.Report{Node: "n0", Tasks: []api.Report{said}}})
	r := w.View().LastRecord(id, 0)
	require.False(t, r.Ended.Before(r.Started))
	require.EqualValues(t, time.Minute.Microseconds(), r.Used.WallMicros)
}

// A node whose clock is of another century says how long its tasks ran, not when.
func TestNodeWithAWrongClock(t *testing.T) {
	w := newWorld(t)
	id := w.submit("ann", job.Spec{}).Jobs[0]
	began := time.Unix(0, 0).UTC()
	k := job.TaskID{Job: id, Attempt: 1}
	w.must(&state.Command{Place: &state.Place{Task: k, Node: "n0"}})
	said := api.Report{Task: k, State: job.Completed, Started: began, At: began.Add(time.Minute)}
	w.must(&state.Command{Report: &state.Report{Node: "n0", Tasks: []api.Report{said}}})
	r := w.View().LastRecord(id, 0)
	require.Equal(t, w.now, r.Ended)
	require.Equal(t, time.Minute.Microseconds(), r.Used.WallMicros)
}
