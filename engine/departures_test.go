package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// That an eviction was accepted and has not happened is seen from both sides, and the
// orchestrator is asked again on demand.
func TestAnEvictionThatDoesNotHappenIsSeen(t *testing.T) {
	r := newRaw(t, &world{})
	urgent := task("urgent", 100)
	spec(urgent).Priority = 10
	apply(t, r, epoch, node("n", 100), task("v", 100))
	settle(r, epoch)
	apply(t, r, epoch, urgent)
	require.True(t, r.Schedule(epoch))
	explain := func(id string) []engine.Departure {
		e, err := r.Explain(epoch.Add(time.Hour), id, engine.ExplainOptions{})
		require.NoError(t, err)
		return e.Leaving
	}
	require.Equal(t, []engine.Departure{{Workload: "v", Node: "n", Since: epoch}}, explain("urgent"))
	require.Equal(t, explain("urgent"), explain("v"))
	require.NoError(t, r.Evict(epoch, "v", "it is being asked"))

	first := r.NextTask()
	require.Nil(t, r.NextTask(), "it is asked once at a time")
	first.Run(t.Context())
	later := epoch.Add(time.Minute)
	r.Finish(later, first)
	accepted := []engine.Departure{{Workload: "v", Node: "n", Since: later, Terminating: true}}
	require.Equal(t, accepted, explain("urgent"))
	require.Equal(t, accepted, explain("v"))

	much := later.Add(time.Hour)
	require.NoError(t, r.Evict(much, "v", "it has been forgotten"))
	again := r.NextTask()
	require.NotNil(t, again, "the orchestrator is asked again")
	again.Settle(errors.New("it cannot be ended"))
	r.Finish(much, again)
	require.Equal(t, accepted, explain("v"), "since when it was accepted first")
	apply(t, r, much, engine.Finish("v"))
	require.Empty(t, explain("urgent"))
	r.Tick(much.Add(time.Minute))
	settle(r, much.Add(time.Minute))
	require.Equal(t, "Bound@n", phaseOf(r, "urgent"))
}

// An Engine says when the call of Bind ends that is under way.
func TestABindingSaysUntilWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(newCutOff("cut"))
		cfg.BindTimeout = time.Minute
		e, stop := start(t, cfg)
		begun := time.Now()
		require.NoError(t, e.Apply(node("cut", 1000), task("a", 100)))
		synctest.Wait()
		p, _ := e.Queue("a")
		require.Equal(t, queue.Binding, p.Place)
		require.True(t, p.Until.Equal(begun.Add(time.Minute)), "%v", p.Until)
		require.NoError(t, stop())
		require.Equal(t, 0, count(e.View(), model.Bound))
	})
}
