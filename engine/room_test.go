package engine_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Evictions that wait for a place are no reason to look for work again and again.
func TestRunRestsWhileEvictionsWaitForAPlace(t *testing.T) {
	// A loop that never rests would hold up the fake clock for ever.
	watchdog := time.AfterFunc(time.Minute, func() { panic("the scheduling loop does not rest") })
	defer watchdog.Stop()
	synctest.Test(t, func(t *testing.T) {
		o := &reluctant{onEvict: func(context.Context, string) error { time.Sleep(time.Second); return nil }}
		cfg := config(o)
		cfg.MaxBindings = 1
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("n1", 1000), running("v1", "n1", 1), running("v2", "n1", 1)))
		require.NoError(t, e.Evict("v1", "drain"))
		require.NoError(t, e.Evict("v2", "drain"))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"v1", "v2"}, o.evicted)
		require.NoError(t, stop())
	})
}

// What the operator wants evicted is evicted, also where it would have made room
// that cannot be had any more.
func TestAFailedEvictionLeavesThoseAloneThatOthersWant(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), running("v1", "n1", 300), running("v2", "n1", 300), running("v3", "n1", 300), urgent("w", 1000)))
	require.NoError(t, r.Evict(epoch, "v2", "drain"))
	require.True(t, r.Schedule(epoch))
	drain, other := r.NextTask(), r.NextTask()
	require.Equal(t, "v2", drain.Workload().ID)
	other.Settle(errors.New("not now"))
	r.Finish(epoch, other)
	drain.Run(t.Context())
	r.Finish(epoch, drain)
	v, _ := r.View().Workload("v2")
	require.Equal(t, model.Terminating, v.Phase)
}

// A workload that changes while it is held back for its room is tried again when
// it no longer is, because the departure that is to come may mean nothing to it.
func TestAChangeWhileRoomIsMadeIsNotForgotten(t *testing.T) {
	r := newRaw(t, &world{})
	n, v, w := node("n1", 1000), running("v", "n1", 1), urgent("w", 1)
	nodeOf(n).Labels = map[string]string{"host": "n1"}
	spec(v).Labels = map[string]string{"app": "a"}
	spec(w).AntiAffinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{{
		TopologyKey: "host", Selector: &model.Selector{Requirements: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{"a"}}}},
	}}}
	require.NoError(t, r.Apply(epoch, n, v, w))
	require.True(t, r.Schedule(epoch))
	evict := r.NextTask()
	friendly := *spec(w)
	friendly.AntiAffinity = nil
	require.NoError(t, r.Apply(epoch, engine.Update(&friendly)))
	p, _ := r.Queue("w")
	require.Equal(t, queue.Gated, p.Place)
	evict.Run(t.Context())
	r.Finish(epoch, evict)
	p, _ = r.Queue("w")
	require.Equal(t, queue.Backoff, p.Place, "it fits, whether or not the other leaves")
}

// Nobody is asked to leave where that was decided on other priorities: the workload
// is tried again after its backoff.
func TestAnotherPriorityEndsTheMakingOfRoom(t *testing.T) {
	for what, change := range map[string]func() engine.Change{
		"a lower one of the workload": func() engine.Change { return engine.Update(spec(task("w", 1000))) },
		"a higher one of the victim":  func() engine.Change { return engine.Update(spec(urgent("v2", 500))) },
	} {
		t.Run(what, func(t *testing.T) {
			r := newRaw(t, &world{})
			require.NoError(t, r.Apply(epoch, node("n1", 1000), running("v1", "n1", 500), running("v2", "n1", 500), urgent("w", 1000)))
			require.True(t, r.Schedule(epoch))
			first := r.NextTask()
			require.Equal(t, "v1", first.Workload().ID)
			require.Nil(t, r.NextTask())
			require.NoError(t, r.Apply(epoch, change()))
			first.Run(t.Context())
			r.Finish(epoch, first)
			require.Nil(t, r.NextTask(), "the last victim is not asked")
			p, _ := r.Queue("w")
			require.Equal(t, queue.ErrorBackoff, p.Place)
		})
	}
}

// An extender may change what it is given, in answers that do not count too: a
// replay, in which nobody does, makes the same room.
func TestAReplayDoesNotMissWhatAnExtenderSpoils(t *testing.T) {
	spoil := func(recorder *engine.Recorder) engine.Config {
		cfg := config(&world{})
		cfg.Recorder = recorder
		x := preempting(func(c map[string]*extpoints.Victims) (map[string]*extpoints.Victims, error) {
			for _, v := range c {
				v.Workloads = v.Workloads[:1]
			}
			return nil, errors.New("out of order")
		})
		x.Ignorable = true
		cfg.Extenders = []extpoints.Extender{x}
		return cfg
	}
	var log bytes.Buffer
	r, err := engine.NewRaw(spoil(engine.NewRecorder(&log)))
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), running("v1", "n1", 300), running("v2", "n1", 300), running("v3", "n1", 300), urgent("w", 1000)))
	require.True(t, r.Schedule(epoch))
	again, err := engine.Replay(spoil(nil), bytes.NewReader(log.Bytes()))
	require.NoError(t, err)
	for range 2 { // the third is asked when these have been accepted
		mine, theirs := r.NextTask(), again.NextTask()
		require.NotNil(t, mine)
		require.Equal(t, mine.Workload().ID, theirs.Workload().ID)
	}
	require.Nil(t, r.NextTask())
}

// What plugins ask for is carried out also while evictions hold everything up.
func TestCommandsAreObeyedWhileEvictionsAreAwaited(t *testing.T) {
	var handle extpoints.Handle
	cfg := synchronous(config(&world{}))
	extpoints.Use(&cfg.Profiles[0], func(_ extpoints.NoArgs, h extpoints.Handle) (rejectLarge, error) {
		handle = h
		return rejectLarge{}, nil
	}, extpoints.NoArgs{})
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), running("v", "n1", 900), task("large", 5000)))
	require.True(t, r.Schedule(epoch))
	require.NoError(t, r.Apply(epoch, urgent("w", 900)))
	require.True(t, r.Schedule(epoch))
	handle.Activate("large")
	require.False(t, r.Schedule(epoch), "the eviction is awaited")
	p, _ := r.Queue("large")
	require.Equal(t, queue.Active, p.Place)
}

// rejectLarge is a filter that rejects large workloads.
type rejectLarge struct{ rejectAll }

func (rejectLarge) Filter(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *extpoints.NodeInfo) *extpoints.Status {
	if w.Requests.CPU > 1000 {
		return extpoints.NewStatus(extpoints.Unschedulable, "too large")
	}
	return nil
}
