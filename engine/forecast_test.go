package engine_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// forecast is the engine's of the present.
func (h *plannedHistory) forecast() *engine.Forecast {
	h.Helper()
	f, err := h.r.Forecast(h.Context(), h.now)
	require.NoError(h, err, "seed %d, %v", h.seed, h.how)
	return f
}

// A forecast is the same each time, its P50 is not after its P90, and the engine goes on as if it
// had not been asked. A replay forecasts the same.
func TestForecastsOfHistories(t *testing.T) {
	t.Parallel()
	starts, least := 0, 100
	if testing.Short() {
		least = 30
	}
	for i, how := range someModes(1) {
		for _, seed := range seeds(t, 3) {
			plain := newPlannedHistory(t, seed*100+uint64(i), how, 1)
			how.forecast = engine.ForecastOptions{Runs: 9}
			asked := newPlannedHistory(t, seed*100+uint64(i), how, 1)
			for step := range 30 {
				plain.step()
				asked.step()
				if step%10 != 9 {
					continue
				}
				f := asked.forecast()
				for _, s := range f.Starts {
					require.False(t, s.P50.IsZero() && !s.P90.IsZero() || s.P50.After(s.P90) && !s.P90.IsZero(), "seed %d, %v: %+v", asked.seed, how, s)
					require.False(t, !s.P50.IsZero() && s.P50.Before(asked.now), "seed %d, %v: %+v", asked.seed, how, s)
				}
				starts += len(f.Starts)
				again := asked.forecast()
				require.Equal(t, f.Starts, again.Starts, "seed %d, %v", asked.seed, how)
			}
			requireSameLines(t, plain.events, asked.events, "seed %d, %v", asked.seed, how)
			requireSameLog(t, plain.log.Bytes(), asked.log.Bytes(), "seed %d, %v", asked.seed, how)
			want := asked.forecast()
			again, err := engine.Replay(asked.cfg, &asked.log)
			require.NoError(t, err, "seed %d, %v", asked.seed, how)
			got, err := again.Forecast(t.Context(), asked.now)
			require.NoError(t, err)
			require.Equal(t, want.Ended, got.Ended, "seed %d, %v, replayed", asked.seed, how)
			require.Equal(t, want.Starts, got.Starts, "seed %d, %v, replayed", asked.seed, how)
		}
	}
	require.Greater(t, starts, least)
}

// Where all run for their whole limit and nothing comes, what is forecast is what then happens. It is not
// after what is promised, where the order stays and all those before have a reservation, too: others may pass.
func TestAForecastOfWholeLimitsIsWhatHappens(t *testing.T) {
	t.Parallel()
	compared, promised := 0, 0
	for i, how := range someModes(1) {
		how.whole, how.forecast = true, engine.ForecastOptions{Runs: 9}
		for _, seed := range append(seeds(t, 9), 8, 34) { // of 8 a plan from nothing comes to other times; of 34 something never starts
			h := newPlannedHistory(t, seed*100+uint64(i), how, 1)
			for range 10 * (1 + seed%3) {
				h.step()
			}
			f, last := h.forecast(), h.now
			promises := map[string]time.Time{} // until when each is to start
			firm := how.by != engine.OrderByQueues
			for _, s := range f.Starts {
				require.Equal(t, s.P50, s.P90, "seed %d, %v, of %s", h.seed, how, s.ID)
				if s.P90.After(last) {
					last = s.P90
				}
				p, _ := h.r.Promise(s.ID)
				if firm = firm && !p.Current.IsZero(); firm {
					if promises[s.ID] = p.Current; how.Slack && p.First.After(p.Current) {
						promises[s.ID] = p.First
					}
				}
			}
			started := h.goOn(last.Add(time.Minute))
			for _, s := range f.Starts {
				require.Equal(t, started[s.ID], s.P90, "seed %d, %v, of %s", h.seed, how, s.ID)
				compared++
				if p, ok := promises[s.ID]; ok {
					require.False(t, s.P90.IsZero() || s.P90.After(p), "seed %d, %v, of %s: %v is after %v", h.seed, how, s.ID, s.P90, p)
					promised++
				}
			}
		}
	}
	require.Greater(t, compared, 100)
	require.Greater(t, promised, 10)
}

// goOn lets time pass, second by second, while nothing happens but that what runs ends. It returns when what
// waits has started, by the ID of the workload or group.
func (h *plannedHistory) goOn(until time.Time) map[string]time.Time {
	started := map[string]time.Time{}
	for h.now.Before(until) {
		h.now = h.now.Add(time.Second)
		var over []engine.Change
		for _, id := range slices.Sorted(maps.Keys(h.jobs)) {
			if j := h.jobs[id]; j.node != "" && h.now.Sub(j.start) >= j.runs {
				over = append(over, engine.Finish(id))
				delete(h.jobs, id)
			}
		}
		if due, ok := h.r.NextDue(h.now); len(over) == 0 && (!ok || due.After(h.now)) {
			continue // by past use who comes first changes as time goes on, but then nobody asks
		}
		h.apply(over...)
		h.r.Tick(h.now)
		h.settle()
		for id, j := range h.jobs {
			id = cmp.Or(j.Group, id)
			if _, known := started[id]; !known && j.node != "" && j.start.Equal(h.now) {
				started[id] = h.now
			}
		}
	}
	return started
}

// forecasting is an engine that forecasts and plans in the mode, with one node.
func forecasting(t *testing.T, mode engine.BackfillMode, cpu int64) *engine.Raw {
	t.Helper()
	cfg := config(&world{})
	cfg.Backfill.Mode, cfg.Forecast.Runs = mode, 9
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", cpu)))
	return r
}

// ran has workloads of a principal run one after the other for the seconds of a limit of 100, and
// returns when the last has ended.
func ran(t *testing.T, r *engine.Raw, now int, principal string, seconds ...int) int {
	t.Helper()
	for _, s := range seconds {
		w := limited(fmt.Sprintf("past-%d", now), 100, 100)
		w.Principal = principal
		require.NoError(t, r.Apply(after(now), engine.Submit(w)))
		settle(r, after(now))
		now += s
		require.NoError(t, r.Apply(after(now), engine.Finish(w.ID)))
	}
	return now
}

// starts are the seconds from the epoch of P50 and P90, by ID; -1 for none.
func starts(t *testing.T, r *engine.Raw, now int) map[string][2]int {
	t.Helper()
	f, err := r.Forecast(t.Context(), after(now))
	require.NoError(t, err)
	out := map[string][2]int{}
	for _, s := range f.Starts {
		var pair [2]int
		for i, at := range []time.Time{s.P50, s.P90} {
			if pair[i] = int(at.Sub(epoch) / time.Second); at.IsZero() {
				pair[i] = -1
			}
		}
		out[s.ID] = pair
	}
	return out
}

func TestForecastsAreOffByDefault(t *testing.T) {
	t.Parallel()
	_, err := newRaw(t, &world{}).Forecast(t.Context(), epoch)
	require.ErrorIs(t, err, engine.ErrNoForecasts)
	for _, c := range []struct {
		o    engine.ForecastOptions
		want string
	}{
		{engine.ForecastOptions{Runs: 8}, "config: Forecast.Runs: 8 is less than 9, which the P90 needs; 0 is for no forecasts"},
		{engine.ForecastOptions{Runs: -1}, "config: Forecast.Runs: -1 is less than 9, which the P90 needs; 0 is for no forecasts"},
		{engine.ForecastOptions{Runs: 9, Depth: -1}, "config: Forecast.Depth: -1 is negative"},
	} {
		cfg := config(&world{})
		cfg.Forecast = c.o
		require.EqualError(t, cfg.Validate(), c.want)
	}
}

// Without history there is no forecast, and it says so.
func TestAForecastWithoutHistory(t *testing.T) {
	t.Parallel()
	r := forecasting(t, engine.EASY, 1000)
	require.NoError(t, r.Apply(epoch, engine.Submit(limited("a", 1000, 10)), engine.Submit(limited("b", 1000, 10))))
	settle(r, epoch)
	f, err := r.Forecast(t.Context(), epoch)
	require.NoError(t, err)
	require.Equal(t, &engine.Forecast{At: epoch}, f)
}

// What runs has not ended yet, and what users ran for before says when it will. Of those that wait each
// starts when those before it have ended.
func TestForecastsGoByRunTimes(t *testing.T) {
	t.Parallel()
	r := forecasting(t, engine.EASY, 1000)
	now := ran(t, r, 0, "short", 10, 10, 10, 10, 10, 10, 10, 10, 10)
	now = ran(t, r, now, "long", 90, 90, 90, 90, 90, 90, 90, 90, 90)
	submit := func(id, principal string, cpu int64, limit int) engine.Change {
		w := limited(id, cpu, limit)
		w.Principal = principal
		return engine.Submit(w)
	}
	require.NoError(t, r.Apply(after(now), submit("first", "short", 1000, 1000), submit("second", "long", 1000, 1000), submit("third", "none", 1000, 10)))
	settle(r, after(now))
	require.Equal(t, map[string][2]int{"second": {now + 100, now + 100}, "third": {now + 1000, now + 1000}}, starts(t, r, now))
	p, ok := r.Promise("second")
	require.True(t, ok)
	require.Equal(t, after(now+1000), p.Current, "a promise goes by limits")
	require.Equal(t, [2]int{now + 900, now + 900}, starts(t, r, now+100)["second"], "no short one ran for so long: one of all did")
	require.Equal(t, [2]int{now + 1000, now + 1000}, starts(t, r, now+950)["second"], "nobody has: the limit")
}

// A forecast in the middle of a binding, or of a wait on Permit, takes what is under way for running.
func TestAForecastWhileSomethingIsUnderWay(t *testing.T) {
	t.Parallel()
	r := forecasting(t, engine.EASY, 1000)
	now := ran(t, r, 0, "", 50)
	require.NoError(t, r.Apply(after(now), engine.Submit(limited("bound", 1000, 10)), engine.Submit(limited("waits", 1000, 10))))
	for r.Schedule(after(now)) {
	}
	task := r.NextTask()
	require.NotNil(t, task)
	require.Equal(t, map[string][2]int{"waits": {now + 5, now + 5}}, starts(t, r, now+1))
	task.Settle(nil)
	r.Finish(after(now+2), task)
	require.Equal(t, map[string][2]int{"waits": {now + 5, now + 5}}, starts(t, r, now+2))
}

// What would be displaced waits again in a forecast; nobody is asked to evict it.
func TestAForecastOfAPreemption(t *testing.T) {
	t.Parallel()
	o := &world{}
	cfg := config(o)
	cfg.Forecast.Runs = 9
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", 1000)))
	now := ran(t, r, 0, "", 50)
	require.NoError(t, r.Apply(after(now), engine.Submit(limited("low", 1000, 100))))
	settle(r, after(now))
	high := limited("high", 1000, 20)
	high.Priority = 1
	require.NoError(t, r.Apply(after(now+1), engine.Submit(high)))
	require.Equal(t, map[string][2]int{"high": {now + 1, now + 1}}, starts(t, r, now+1))
	require.Empty(t, o.evicted)
}

// What has no limit never ends, so what waits for its room has no forecast.
func TestAForecastWithoutALimit(t *testing.T) {
	t.Parallel()
	r := forecasting(t, engine.EASY, 1000)
	now := ran(t, r, 0, "", 50)
	require.NoError(t, r.Apply(after(now), task("forever", 1000), engine.Submit(limited("waits", 1000, 10))))
	settle(r, after(now))
	require.Equal(t, map[string][2]int{"waits": {-1, -1}}, starts(t, r, now))
}

// Only the first that wait are forecast.
func TestForecastsHaveADepth(t *testing.T) {
	t.Parallel()
	cfg := config(&world{})
	cfg.Forecast = engine.ForecastOptions{Runs: 9, Depth: 1}
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n", 1000)))
	now := ran(t, r, 0, "", 100)
	require.NoError(t, r.Apply(after(now), engine.Submit(limited("a", 1000, 10)), engine.Submit(limited("b", 1000, 10)), engine.Submit(limited("c", 1000, 10))))
	require.Equal(t, map[string][2]int{"a": {now, now}}, starts(t, r, now))
}

func TestAForecastIsRefusedAndCancelled(t *testing.T) {
	t.Parallel()
	r := forecasting(t, engine.EASY, 1000)
	now := ran(t, r, 0, "", 50)
	_, err := r.Forecast(t.Context(), after(now-1))
	require.ErrorIs(t, err, engine.ErrTime)
	require.NoError(t, r.Apply(after(now), task("waits", 2000)))
	gone := errors.New("nobody waits for it")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	_, err = r.Forecast(ctx, after(now))
	require.ErrorIs(t, err, gone)
}

// Of each workload the first forecast counts, once it has started.
func TestForecastsAreCompared(t *testing.T) {
	t.Parallel()
	r := forecasting(t, engine.EASY, 1000)
	now := ran(t, r, 0, "", 50)
	submit := func(ids ...string) {
		for _, id := range ids {
			require.NoError(t, r.Apply(after(now), engine.Submit(limited(id, 1000, 10))))
		}
		settle(r, after(now))
	}
	calibration := func(at int) engine.Calibration {
		f, err := r.Forecast(t.Context(), after(at))
		require.NoError(t, err)
		return f.Calibration
	}
	end := func(at int, ids ...string) {
		for _, id := range ids {
			require.NoError(t, r.Apply(after(at), engine.Remove(id)))
		}
		settle(r, after(at))
	}
	submit("a", "b", "c", "d")
	require.Equal(t, engine.Calibration{}, calibration(now)) // b after 5 s, c after 10, d after 15
	require.Equal(t, engine.Calibration{}, calibration(now+4))
	end(now+5, "a")
	require.Equal(t, engine.Calibration{Starts: 1, ByP50: 1, ByP90: 1}, calibration(now+5))
	end(now+9, "d", "b") // d is withdrawn
	require.Equal(t, engine.Calibration{Starts: 2, ByP50: 2, ByP90: 2}, calibration(now+9))
	now += 9
	submit("e")
	require.Equal(t, engine.Calibration{Starts: 2, ByP50: 2, ByP90: 2}, calibration(now))
	end(now+10, "c")
	require.Equal(t, engine.Calibration{Starts: 3, ByP50: 2, ByP90: 2}, calibration(now+10))
}

// A log that begins in the middle has the run times that were known.
func TestAReplayFromTheMiddleForecasts(t *testing.T) {
	t.Parallel()
	r := forecasting(t, engine.EASY, 1000)
	now := ran(t, r, 0, "", 50, 30)
	var log bytes.Buffer
	require.NoError(t, r.StartRecording(after(now), engine.NewRecorder(&log)))
	require.NoError(t, r.Apply(after(now), engine.Submit(limited("runs", 1000, 10)), engine.Submit(limited("waits", 1000, 10))))
	settle(r, after(now))
	cfg := config(&world{})
	cfg.Backfill.Mode, cfg.Forecast.Runs = engine.EASY, 9
	again, err := engine.Replay(cfg, &log)
	require.NoError(t, err)
	require.NotEmpty(t, starts(t, r, now))
	require.Equal(t, starts(t, r, now), starts(t, again, now))
}

// An engine forecasts beside what it does.
func TestAnEngineForecasts(t *testing.T) {
	t.Parallel()
	cfg := config(&world{})
	cfg.Forecast.Runs = 9
	eng, err := engine.New(cfg)
	require.NoError(t, err)
	f, err := eng.Forecast(t.Context())
	require.NoError(t, err)
	require.Zero(t, f.Ended)
	for i := range 9 {
		id := fmt.Sprint(i)
		require.NoError(t, eng.Apply(engine.Adopt(limited(id, 100, 100), model.Binding{Node: "n", Since: f.At.Add(-50 * time.Second)})))
		require.NoError(t, eng.Apply(engine.Remove(id)))
	}
	require.NoError(t, eng.Apply(node("n", 1000), engine.Submit(limited("waits", 100, 10))))
	f, err = eng.Forecast(t.Context())
	require.NoError(t, err)
	require.Equal(t, 9, f.Ended)
	require.Equal(t, []engine.ForecastStart{{ID: "waits", P50: f.At, P90: f.At}}, f.Starts)
}
