package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// What becomes free moves reservations no more often than Backfill.Every says; what endangers
// one has them made anew at once.
func TestBackfillEvery(t *testing.T) {
	t.Parallel()
	at := func(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }
	job := func(id string, cpu, seconds int) *model.Workload {
		return &model.Workload{ID: id, Requests: model.Resources{CPU: model.Cores(float64(cpu))}, Limit: time.Duration(seconds) * time.Second}
	}
	start := func(t *testing.T) *engine.Raw {
		r, err := engine.NewRaw(engine.Config{
			Profiles: []extpoints.Profile{historyProfile()}, Orchestrator: &world{},
			Backfill: engine.Backfill{Mode: engine.EASY, Every: time.Minute},
		})
		require.NoError(t, err)
		require.NoError(t, r.Apply(at(0),
			engine.PutNode(&model.Node{Name: "n", MaxWorkloads: 100, Allocatable: model.Resources{CPU: model.Cores(10)}}),
			engine.Adopt(job("long", 4, 200), model.Binding{Node: "n", Since: at(0)}),
			engine.Adopt(job("short", 4, 100), model.Binding{Node: "n", Since: at(0)}),
			engine.Submit(job("first", 10, 10)), engine.Submit(job("behind", 2, 150)),
		))
		settle(r, at(0))
		require.Equal(t, []string{"first at 3m20s: first on n"}, reserved(r.Reservations()))
		require.NoError(t, r.Apply(at(10), engine.Remove("long")))
		settle(r, at(10))
		require.Equal(t, []string{"first at 3m20s: first on n"}, reserved(r.Reservations()), "it is valid, if late")
		return r
	}

	t.Run("when the time is over", func(t *testing.T) {
		t.Parallel()
		r := start(t)
		due, ok := r.NextDue(at(10))
		require.True(t, ok)
		require.False(t, due.After(at(60)))
		r.Tick(due)
		require.Equal(t, []string{"first at 2m30s: first on n"}, reserved(r.Reservations()), "when what started behind it has ended")
	})
	t.Run("something endangers it", func(t *testing.T) {
		t.Parallel()
		r := start(t)
		require.NoError(t, r.Apply(at(20), engine.Adopt(job("other", 1, 400), model.Binding{Node: "n", Since: at(20)})))
		require.NoError(t, r.Apply(at(20), engine.Submit(job("next", 9, 1))))
		settle(r, at(20))
		require.Equal(t, []string{"first at 7m0s: first on n"}, reserved(r.Reservations()))
	})
}
