package engine_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// keptBack is a tree of groups that fits, and is rejected for the sake of "first" before it.
type keptBack struct {
	name   string
	order  engine.Order
	before []engine.Change // what there is, and "first", which has a reservation at 10s
	gang   *model.Workload // each of the two members of group "g"
}

var keptBacks = []keptBack{
	{
		name: "all together would delay it",
		before: []engine.Change{
			node("n", 4000), engine.Adopt(limited("runs", 2000, 10), model.Binding{Node: "n", Since: epoch}), engine.Submit(limited("first", 3000, 5)),
		},
		gang: limited("", 1000, 500),
	},
	{
		name: "one of them would delay it",
		before: []engine.Change{
			node("n", 4000), node("m", 2000),
			engine.Adopt(limited("runs", 2000, 10), model.Binding{Node: "n", Since: epoch}), engine.Submit(limited("first", 3000, 5)),
		},
		gang: limited("", 2000, 500),
	},
	{
		name: "a quota would hold it back wherever they are", order: engine.OrderByQueues,
		before: []engine.Change{
			engine.PutObject(&model.Queue{Name: "a", Weight: 1, Max: map[string]int64{model.CPU: 1000}}), engine.PutObject(&model.Queue{Name: "b", Weight: 1}),
			node("n", 2000),
			engine.Adopt(inQueue("b", limited("runs", 1500, 10)), model.Binding{Node: "n", Since: epoch}),
			engine.Submit(inQueue("a", limited("first", 700, 5))),
		},
		gang: inQueue("a", limited("", 200, 500)),
	},
}

// start lets the engine try all of it.
func (k *keptBack) start(t *testing.T, l engine.Listener) (*engine.Raw, engine.Config) {
	cfg := config(&world{})
	cfg.Order, cfg.Backfill = k.order, engine.Backfill{Mode: engine.EASY, Overrun: 5 * time.Second}
	listening := cfg
	listening.Listener = l
	r, err := engine.NewRaw(listening)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, k.before...))
	settle(r, epoch)
	require.Len(t, r.Reservations(), 1)
	require.NoError(t, r.Apply(after(1), engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 2})))
	for _, id := range []string{"g1", "g2"} {
		w := *k.gang
		w.ID, w.Group = id, "g"
		require.NoError(t, r.Apply(after(1), engine.Submit(&w)))
	}
	settle(r, after(1))
	require.Equal(t, 3, count(r.View(), model.Pending))
	return r, cfg
}

// Members of a tree that was rejected for the sake of reservations say so, as a workload by itself does.
func TestATreeThatWouldDelayOthersSaysSo(t *testing.T) {
	t.Parallel()
	for _, k := range keptBacks {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			blamed := map[string]bool{}
			r, _ := k.start(t, engine.Listener{Rejected: func(e engine.RejectedEvent) {
				blamed[e.Workload.ID] = slices.Contains(e.Plugins, decide.Backfill)
			}})
			require.True(t, blamed["g2"])
			e, err := r.Explain(after(1), "g2", engine.ExplainOptions{})
			require.NoError(t, err)
			require.Contains(t, e.Last.Plugins, decide.Backfill)
			require.Contains(t, e.Last.Message, `would delay "first", which is to start at 2026-01-01T00:00:10Z`)
			p, _ := r.Queue("g2")
			require.Equal(t, queue.Unschedulable, p.Place)
			require.Contains(t, p.UnschedulablePlugins, decide.Backfill)
		})
	}
}

// A tree that was rejected for the sake of a reservation is tried again when that has gone, of which no event tells: what runs in the
// way does not end. So it is in an engine that has made its plan anew since, and in one that replays that.
func TestATreeIsTriedAgainWhenThePlanChanges(t *testing.T) {
	t.Parallel()
	for _, k := range keptBacks {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for _, anew := range []bool{false, true} {
				r, cfg := k.start(t, engine.Listener{})
				var log bytes.Buffer
				if anew {
					require.NoError(t, r.StartRecording(after(1), engine.NewRecorder(&log)))
					settle(r, after(1))
				}
				require.Equal(t, 3, count(r.View(), model.Pending))
				for due, ok := r.NextDue(after(1)); ok && due.Before(after(20)); due, ok = r.NextDue(due) {
					r.Tick(due)
					settle(r, due)
				}
				require.Equal(t, 2, count(r.View(), model.Bound), "anew: %v", anew)
				if anew {
					again, err := engine.Replay(cfg, &log)
					require.NoError(t, err)
					require.Equal(t, 2, count(again.View(), model.Bound))
				}
			}
		})
	}
}
