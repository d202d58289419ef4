package engine_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Time is an argument of a Raw: what no clock can show is refused, and changes nothing.
func TestTimeThatNoClockShowsIsRefused(t *testing.T) {
	for name, call := range map[string]func(r *engine.Raw, at time.Time) error{
		"Apply":          func(r *engine.Raw, at time.Time) error { return r.Apply(at, engine.Remove("a")) },
		"Evict":          func(r *engine.Raw, at time.Time) error { return r.Evict(at, "a", "drain") },
		"StartRecording": func(r *engine.Raw, at time.Time) error { return r.StartRecording(at, engine.NewRecorder(io.Discard)) },
		"Schedule":       func(r *engine.Raw, at time.Time) error { return panics(func() { r.Schedule(at) }) },
		"Tick":           func(r *engine.Raw, at time.Time) error { return panics(func() { r.Tick(at) }) },
		"Settle":         func(r *engine.Raw, at time.Time) error { return panics(func() { r.Settle(at) }) },
		"CallOff":        func(r *engine.Raw, at time.Time) error { return panics(func() { r.CallOff(at, nil) }) },
		"Finish":         func(r *engine.Raw, at time.Time) error { return panics(func() { r.Finish(at, r.NextTask()) }) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, &world{})
			require.NoError(t, r.Apply(epoch, node("n", 1000), task("a", 100), task("b", 100)))
			require.True(t, r.Schedule(epoch))
			for _, at := range []time.Time{
				{}, epoch.Add(-1), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), epoch.In(time.FixedZone("", 3601)), epoch.In(time.FixedZone("", 24*3600)),
			} {
				err := call(r, at)
				require.ErrorIs(t, err, engine.ErrTime)
				require.ErrorContains(t, err, name)
			}
			require.Equal(t, 1, count(r.View(), model.Assumed))
			require.Equal(t, 1, count(r.View(), model.Pending))
			require.True(t, r.Schedule(epoch), "the same time again is no step back")
		})
	}
}

// Nothing is due at a time at which Tick cannot be called.
func TestNothingIsDueBeyondTime(t *testing.T) {
	end := time.Date(9999, 12, 31, 23, 59, 0, 0, time.UTC)
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(end, node("n", 1000), task("waits", 2000)))
	settle(r, end)
	for now := end; ; {
		due, ok := r.NextDue(now)
		if !ok {
			require.Equal(t, 1, count(r.View(), model.Pending))
			return
		}
		now = due
		r.Tick(now)
	}
}
