package scheduler

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler/backfill"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// A new plan takes the place of the old one, unless something got in its way while it
// was made.
func TestHandOver(t *testing.T) {
	one := model.Resources{CPU: 1000}
	c, err := New(Config{State: state.New(nil), Term: 1})
	require.NoError(t, err)
	require.NoError(t, c.eng.Apply(
		engine.Change{PutNode: &model.Node{Name: "a", Allocatable: one}},
		engine.Change{PutNode: &model.Node{Name: "b", Allocatable: one}},
		engine.Change{Adopt: &engine.Placement{Workload: &model.Workload{ID: "9_0.1.0", Namespace: "x", Requests: one}, Node: "b"}},
	))
	first, second := job.TaskID{Job: 1, Attempt: 1}, job.TaskID{Job: 2, Attempt: 1}
	on := func(id job.TaskID, node string, in time.Duration) *reservation {
		plan := backfill.Plan{At: time.Now().Add(in), Parts: []backfill.Part{{Node: node, Tasks: 1}}}
		return newReservation(id, 0, backfill.Want{Tasks: 1, Requests: one}, plan)
	}
	r := &reserver{eng: c.eng, blocked: c.blocked, keeper: c.keeper, current: on(first, "a", time.Hour)}
	old := r.current

	require.Same(t, old, r.handOver(on(first, "b", 0)), "b has been taken")
	require.Equal(t, []*reservation{old}, c.keeper.all())
	require.True(t, r.seen.again)
	require.Zero(t, r.wakes)

	for name, next := range map[string]*reservation{
		"the old one is no better":      on(first, "c", time.Minute),
		"another attempt, and it holds": on(second, "a", time.Minute),
		"another attempt has its turn":  on(second, "b", time.Minute),
	} {
		r.current, r.wakes = old, wakes{}
		if name == "the old one is no better" {
			r.current = on(first, "b", time.Hour)
		}
		require.Same(t, next, r.handOver(next), name)
		require.Equal(t, []*reservation{next}, c.keeper.all(), name)
		require.NotZero(t, r.wakes.since, name)
	}
}

// activations is the part of an engine that tries workloads again.
type activations struct {
	extpoints.Handle
	ids []string
}

// Activate implements extpoints.Handle.
func (a *activations) Activate(ids ...string) { a.ids = append(a.ids, ids...) }

// Those who were kept off are tried again in order: few at once, and more while it helps.
func TestWake(t *testing.T) {
	h := &activations{}
	r := &reserver{blocked: newBlocked(), keeper: &keeper{handle: h}}
	now := time.Now()
	for i := range 1000 {
		reject(r.blocked, fmt.Sprintf("%d_0.1.0", i+1), 0, now, backfillName)
	}
	reject(r.blocked, "1_1.1.0", 5, now, "NodeResourcesFit")
	wake := func(placed, from, to int) {
		t.Helper()
		h.ids = nil
		r.wake(now)
		var want []string
		for i := from; i < to; i++ {
			want = append(want, fmt.Sprintf("%d_0.1.0", i+1))
		}
		require.Equal(t, want, h.ids)
		for i, id := range h.ids { // some get a place, others are turned down again
			if i < placed {
				task, err := job.ParseTaskID(id)
				require.NoError(t, err)
				r.blocked.forget(task)
			} else {
				reject(r.blocked, id, 0, now.Add(time.Millisecond), backfillName)
			}
		}
		now = now.Add(time.Second)
	}
	wake(0, 0, 0)
	r.wakes = wakes{since: now, few: wakeFew}
	wake(0, 0, 100)
	r.wakes.since = now.Add(-time.Second) // as the first were tried after it
	wake(0, 0, 0)
	now = now.Add(wakePause)
	wake(1, 100, 200)
	wake(1, 200, 400)
	wake(0, 400, 800)
	wake(0, 0, 0)
	now = now.Add(wakePause)
	wake(0, 800, 900)
	now = now.Add(wakePause)
	wake(0, 900, 1000)
	now = now.Add(wakePause)
	wake(0, 0, 0)
	require.Zero(t, r.wakes, "all have had their turn")
}
