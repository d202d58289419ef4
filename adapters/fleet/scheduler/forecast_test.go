package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// forecasting makes leaders that forecast of so many when they start, from now on.
func (w *world) forecasting(most int) {
	w.make = func(c scheduler.Config) (*scheduler.Controller, error) {
		c.Forecasts = most
		return scheduler.New(c)
	}
	w.lead()
}

// likely is when the first element of a job will probably start.
func (w *world) likely(id job.ID) *api.Forecast {
	v := w.state.View()
	return w.leader.Forecast(v, v.Job(id), 0)
}

// whole is a job that needs the whole node, and runs for as long as it says.
func whole(lasts, limit string) string {
	return "name: " + lasts + "\nresources: {cpu: 8}\nkillGrace: 5s\ntimeLimit: " + limit
}

// Jobs that run for a tenth of their limits are foreseen to, the promise goes by limits, and what starts then
// counts. Those behind the first are not evaluated.
func TestForecastsOfJobs(t *testing.T) {
	in(t, []*api.Registration{node("a", 8)}, func(w *world) {
		lasting(w)
		w.forecasting(2)
		fast := whole("1m", "10m")
		ids := w.submit(fast, fast)
		require.Equal(t, &api.Forecast{}, w.likely(ids[1]), "none was made yet")
		w.pass(45 * time.Second)
		require.Equal(t, &api.Forecast{}, w.likely(ids[1]), "nothing has ended")
		w.pass(2 * time.Minute)
		require.Equal(t, "COMPLETED COMPLETED", w.states(ids...))

		ids = w.submit(fast, fast, whole("1m", "4m"), fast)
		began := time.Now()
		w.pass(35 * time.Second)
		for i, wait := range []time.Duration{time.Minute, 2 * time.Minute} {
			f := w.likely(ids[i+1])
			require.WithinDuration(t, began.Add(wait), f.P50, 5*time.Second, "job %d", ids[i+1])
			require.WithinDuration(t, began.Add(wait), f.P90, 5*time.Second)
			require.False(t, f.At.After(time.Now()))
		}
		require.Equal(t, &api.Forecast{}, w.likely(ids[3]), "it is the third")
		promised, _ := w.expected(ids[1])
		require.WithinDuration(t, began.Add(10*time.Minute), promised, 20*time.Second)
		v := w.state.View()
		x, err := w.leader.Explain(v, v.Job(ids[1]), 0)
		require.NoError(t, err)
		require.Equal(t, w.likely(ids[1]), x.Forecast)
		require.Equal(t, 1, x.Position)
		line := w.leader.Promises(v, func(string) bool { return true }, 1)
		require.Equal(t, x.Forecast, line[0].Forecast)

		w.pass(115 * time.Second)
		require.Equal(t, "COMPLETED COMPLETED RUNNING PENDING", w.states(ids...))
		c := w.leader.Calibration()
		require.Equal(t, 2, c.Starts)
		require.GreaterOrEqual(t, c.ByP90, c.ByP50)
	})
}

// Nothing is forecast where nobody asks for it.
func TestForecastsAreOff(t *testing.T) {
	in(t, []*api.Registration{node("a", 8)}, func(w *world) {
		ids := w.submit(whole("1m", "1h"), whole("1m", "1h"))
		w.pass(30 * time.Second)
		require.Nil(t, w.likely(ids[1]))
		require.Nil(t, w.leader.Calibration())
		v := w.state.View()
		x, err := w.leader.Explain(v, v.Job(ids[1]), 0)
		require.NoError(t, err)
		require.Nil(t, x.Forecast)
		require.Nil(t, x.Calibration)
	})
}

// A new leader knows from the records how long jobs ran: of each user by himself, also where there is no tree
// of queues, and not those that were cancelled.
func TestANewLeaderForecasts(t *testing.T) {
	for name, byQueues := range map[string]bool{"by priority": false, "by queues": true} {
		t.Run(name, func(t *testing.T) {
			in(t, []*api.Registration{node("a", 8)}, func(w *world) {
				if byQueues {
					w.do(&state.Command{PutAccount: &api.Account{Name: "uni"}})
				}
				lasting(w)
				slow, fast := whole("5m", "6m"), whole("36s", "6m")
				for range 10 {
					w.of("bob", 1, slow)
					w.of("ann", 1, fast)
					w.pass(6 * time.Minute)
				}
				for range 20 {
					w.of("ann", 1, slow)
					w.pass(10 * time.Second)
					for k := range w.state.View().Tasks() {
						w.do(&state.Command{Cancel: &state.Cancel{Select: state.Select{Job: k.ID.Job}, State: job.Cancelled}})
					}
					w.pass(10 * time.Second)
				}
				w.forecasting(10)
				began := time.Now()
				w.of("bob", 1, slow)
				w.pass(time.Second)
				first := w.of("ann", 1, fast)[0]
				w.pass(time.Second)
				second := w.of("ann", 1, fast)[0]
				w.pass(time.Minute)
				near := func(want time.Duration, f *api.Forecast) {
					require.WithinDuration(t, began.Add(want), f.P50, 10*time.Second)
					require.WithinDuration(t, began.Add(want), f.P90, 10*time.Second)
				}
				near(5*time.Minute, w.likely(first))
				near(5*time.Minute+36*time.Second, w.likely(second))
				require.Equal(t, "RUNNING PENDING PENDING", w.states(first-1, first, second))
			})
		})
	}
}

// Gangs are foreseen as a whole, and what waits for a task without a limit is not.
func TestForecastsOfGangs(t *testing.T) {
	in(t, []*api.Registration{node("a", 4), node("b", 4)}, func(w *world) {
		lasting(w)
		w.forecasting(100)
		const gang = "name: 1m\nresources: {cpu: 4}\ntasks: 2\nkillGrace: 5s\ntimeLimit: 10m"
		w.submit(gang)
		w.pass(2 * time.Minute)
		ids := w.submit(gang, gang)
		began := time.Now()
		w.pass(40 * time.Second)
		require.WithinDuration(t, began.Add(time.Minute), w.likely(ids[1]).P50, 5*time.Second)
		w.submit("name: 10h\nresources: {cpu: 4}\npriority: 10")
		w.pass(2 * time.Minute)
		last := w.submit(gang)[0]
		w.pass(40 * time.Second)
		f := w.likely(last)
		require.False(t, f.At.IsZero())
		require.Zero(t, f.P50)
		require.Zero(t, f.P90)
	})
}
