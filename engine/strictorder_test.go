package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Under load, by queues: whenever a place becomes free, the one that starts has the highest
// priority of those that wait, and is the oldest of these, however often it was rejected.
func TestPrioritiesAreStrictByQueues(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(seeds(t, 1)[0], 1))
	var started []*model.Workload
	cfg := config(&world{})
	cfg.Order = engine.OrderByQueues
	cfg.Listener = engine.Listener{Reserved: func(e engine.PlacedEvent) { started = append(started, e.Workload) }}
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 10), engine.PutObject(&model.Queue{Name: "q", Policy: model.OrderPriority})))
	now := epoch
	var waiting, running []*model.Workload
	run := func() {
		started = nil
		for r.Schedule(now) {
		}
		for task := r.NextTask(); task != nil; task = r.NextTask() {
			task.Run(context.Background())
			r.Finish(now, task)
		}
		for _, w := range started {
			first := 0
			for i, other := range waiting {
				if other.Priority > waiting[first].Priority {
					first = i
				}
			}
			require.Equal(t, waiting[first].ID, w.ID, "%d wait", len(waiting))
			waiting = append(waiting[:first], waiting[first+1:]...)
			running = append(running, w)
		}
	}
	for i := range 400 {
		now = now.Add(time.Duration(random.IntN(300)) * time.Millisecond)
		if i < 300 {
			w := &model.Workload{
				ID: fmt.Sprintf("w%03d", i), Queue: "q", Priority: random.Int32N(3), Preemption: model.PreemptNever,
				Requests: model.Resources{CPU: 1},
			}
			waiting = append(waiting, w)
			require.NoError(t, r.Apply(now, engine.Submit(w)))
			run()
		}
		if len(running) > 0 && random.IntN(2) == 0 {
			ended := random.IntN(len(running))
			require.NoError(t, r.Apply(now, engine.Finish(running[ended].ID)))
			running = append(running[:ended], running[ended+1:]...)
			run()
		}
	}
	require.Greater(t, len(waiting), 50, "there was load")
}
