package scheduler

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
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

// Who is being tried when others get the room that is kept is turned down by what was
// kept before, and tells of it later: it is among those who are tried again.
func TestWhoIsBeingTriedIsWokenToo(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(r *reserver)
		changed func(k *keeper) bool
	}{
		"another reservation": {func(r *reserver) { r.replace(nil) }, func(k *keeper) bool { return len(k.all()) == 0 }},
		"the beginning":       {(*reserver).begin, func(k *keeper) bool { return k.begun.Load() }},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reserver{keeper: &keeper{}, current: &reservation{}}
			r.keeper.set(r.current)
			trying := make(chan struct{})
			controller, err := newController(Config{State: state.New(nil), Term: 1}, func(fresh *Controller) engine.Config {
				cfg := fresh.engineConfig()
				cfg.Listener.Popped = func(engine.PoppedEvent) {
					close(trying)
					for !c.changed(r.keeper) {
						time.Sleep(time.Millisecond)
					}
				}
				return cfg
			})
			require.NoError(t, err)
			r.eng, r.blocked = controller.eng, controller.blocked
			id := job.TaskID{Job: 1, Attempt: 1}
			require.NoError(t, r.eng.Apply(
				engine.Change{PutNode: &model.Node{Name: "a"}},
				engine.Change{Submit: &model.Workload{ID: id.String(), Namespace: "x", Requests: model.Resources{CPU: 1}}}))
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			defer running.Wait()
			defer stop()
			running.Go(func() { _ = r.eng.Run(ctx) })
			<-trying
			c.change(r)
			list := r.blocked.first(1, job.TaskID{}, func(a *blockedAttempt) bool { return !a.tried.After(r.wakes.since) })
			require.Len(t, list, 1)
			require.Equal(t, id, list[0].id)
		})
	}
}

// Waiting for an engine that decides about something large is no work: it does not make
// the next look come later, or the fleet would stand still at the beginning of a term.
func TestWaitingForTheEngineIsNoWork(t *testing.T) {
	const decision = 300 * time.Millisecond
	trying := make(chan struct{})
	c, err := newController(Config{State: state.New(nil), Term: 1}, func(c *Controller) engine.Config {
		cfg := c.engineConfig()
		cfg.Listener.Popped = func(engine.PoppedEvent) {
			close(trying)
			time.Sleep(decision)
		}
		return cfg
	})
	require.NoError(t, err)
	require.NoError(t, c.eng.Apply(engine.Change{Submit: &model.Workload{ID: "1_0.1.0", Namespace: "x"}}))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { _ = c.eng.Run(ctx) })
	<-trying
	r := &reserver{state: c.cfg.State, eng: c.eng, blocked: c.blocked, keeper: c.keeper}
	began := time.Now()
	pause := r.turn()
	took := time.Since(began)
	require.Positive(t, r.waited)
	require.LessOrEqual(t, pause, max(reserveEvery, reserveShare*(took-r.waited)))
}

// activations is the part of an engine that tries workloads again.
type activations struct {
	extpoints.Handle
	ids []string
}

// Activate implements extpoints.Handle.
func (a *activations) Activate(ids ...string) { a.ids = append(a.ids, ids...) }

// Those who were kept off are tried again in order: few at once, and more while it helps.
func TestWake(t *testing.T) { synctest.Test(t, wakeInOrder) }

func wakeInOrder(t *testing.T) {
	h := &activations{}
	r := &reserver{blocked: newBlocked(), keeper: &keeper{handle: h}}
	for i := range 1000 {
		reject(r.blocked, fmt.Sprintf("%d_0.1.0", i+1), 0, time.Now(), backfillName)
	}
	reject(r.blocked, "1_1.1.0", 5, time.Now(), "NodeResourcesFit")
	wake := func(placed, from, to int) {
		t.Helper()
		h.ids = nil
		r.wake(time.Now())
		var want []string
		for i := from; i < to; i++ {
			want = append(want, fmt.Sprintf("%d_0.1.0", i+1))
		}
		require.Equal(t, want, h.ids)
		time.Sleep(time.Second)
		for i, id := range h.ids { // some get a place, others are turned down again
			if i < placed {
				task, err := job.ParseTaskID(id)
				require.NoError(t, err)
				r.blocked.forget(task)
			} else {
				reject(r.blocked, id, 0, time.Now(), backfillName)
			}
		}
	}
	wake(0, 0, 0)
	r.wakes = wakes{since: time.Now(), few: wakeFew}
	wake(0, 0, 100)
	r.wakes.since = time.Now().Add(-time.Second) // as the first were tried after it
	wake(0, 0, 0)
	time.Sleep(wakePause)
	wake(1, 100, 200)
	wake(1, 200, 400)
	wake(0, 400, 800)
	wake(0, 0, 0)
	time.Sleep(wakePause)
	wake(0, 800, 900)
	time.Sleep(wakePause)
	wake(0, 900, 1000)
	time.Sleep(wakePause)
	wake(0, 0, 0)
	require.Zero(t, r.wakes, "all have had their turn")
}

// The engine's clock does not follow the machine's when that is set anew. Who is to be
// tried again does not depend on it.
func TestWakeAfterTheClockWasSet(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			h := &activations{}
			r := &reserver{blocked: newBlocked(), keeper: &keeper{handle: h}}
			reject(r.blocked, "1_0.1.0", 0, time.Now().Add(by), backfillName)
			r.wakes = wakes{since: time.Now(), few: wakeFew}
			time.Sleep(time.Second)
			reject(r.blocked, "2_0.1.0", 0, time.Now().Add(by), backfillName)
			r.wake(time.Now())
			require.Equal(t, []string{"1_0.1.0"}, h.ids, by)
		})
	}
}
