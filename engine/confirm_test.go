package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// An orchestrator that confirms a workload with other devices than were chosen
// for it frees those that it did not take.
func TestAConfirmationWithOtherDevicesWakes(t *testing.T) {
	r := newRaw(t, &world{})
	two := &model.Node{Name: "n1", Devices: []model.Device{{Class: "gpu"}, {Class: "gpu"}}}
	gpus := func(id string, n int64) engine.Change {
		return engine.Submit(&model.Workload{ID: id, Devices: []model.DeviceRequest{{Class: "gpu", Count: n, Share: model.WholeDevice}}})
	}
	require.NoError(t, r.Apply(epoch, engine.PutNode(two), gpus("a", 2), gpus("b", 1)))
	settle(r, epoch)
	p, _ := r.Queue("b")
	require.Equal(t, queue.Unschedulable, p.Place)

	one := []model.DeviceShare{{Device: 1, Share: model.WholeDevice}}
	require.NoError(t, r.Apply(epoch, engine.Confirm(model.Binding{Workload: "a", Node: "n1", Devices: one})))
	p, _ = r.Queue("b")
	require.Equal(t, queue.Backoff, p.Place)
	settle(r, epoch)
	b, _ := r.View().Workload("b")
	require.Equal(t, []model.DeviceShare{{Device: 0, Share: model.WholeDevice}}, b.Shares)
}

// The same for a workload that is updated and confirmed at once.
func TestAnUpdateWithTheConfirmationWakes(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("a", 800), task("b", 500)))
	settle(r, epoch)
	smaller := spec(task("a", 100))
	require.NoError(t, r.Apply(epoch, engine.Update(smaller), engine.Confirm(model.Binding{Workload: "a", Node: "n1"})))
	p, _ := r.Queue("b")
	require.Equal(t, queue.Backoff, p.Place)
}

// What is called off is called off again in a replay, and what was taken at the
// time is not; see also TestReplayIsTheSame.
func TestCallOffLeavesTasksThatWereTaken(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("a", 100), task("b", 100)))
	require.True(t, r.Schedule(epoch))
	taken := r.NextTask()
	require.True(t, r.Schedule(epoch))
	r.CallOff(epoch, nil)
	require.Nil(t, r.NextTask())
	r.Finish(epoch, r.NextTask()) // which is none
	p, _ := r.Queue("b")
	require.Equal(t, queue.ErrorBackoff, p.Place)
	taken.Run(t.Context())
	r.Finish(epoch, taken)
	a, _ := r.View().Workload("a")
	require.Equal(t, model.Bound, a.Phase)
}

// Another scheduler places a workload elsewhere than on the node that it is
// nominated to: those that had left it room are woken, but not where the wake-ups
// are to be the reference's (eventhandlers.go deletePodFromSchedulingQueue, 1.37.1).
func TestAConfirmationElsewhereWakesThoseThatLeftRoom(t *testing.T) {
	for compat, want := range map[extpoints.Compat]queue.Place{extpoints.Improved: queue.Backoff, extpoints.KubeScheduler137: queue.Unschedulable} {
		cfg := config(&world{})
		cfg.Compat = compat
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		high, low := task("high", 900), task("low", 400)
		spec(high).Priority, spec(low).Priority = 10, 1
		require.NoError(t, r.Apply(epoch, node("n1", 1000), task("v", 500)))
		settle(r, epoch)
		require.NoError(t, r.Apply(epoch, engine.Confirm(model.Binding{Workload: "v", Node: "n1"}), high))
		settle(r, epoch)
		w, _ := r.View().Workload("high")
		require.Equal(t, "n1", w.Nominated)
		require.NoError(t, r.Apply(epoch, low))
		settle(r, epoch)
		require.NoError(t, r.Apply(epoch, engine.Confirm(model.Binding{Workload: "high", Node: "n2"})))
		p, _ := r.Queue("low")
		require.Equal(t, want, p.Place, "%s", compat)
	}
}

// TestConfirmSaysWhenItStarted: with the confirmation or later, and a repetition
// without a time changes nothing.
func TestConfirmSaysWhenItStarted(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("a", 100)))
	require.True(t, r.Schedule(epoch))
	started := func() time.Time {
		row, ok := r.View().Workload("a")
		require.True(t, ok)
		return row.PlacedAt
	}
	require.Equal(t, epoch, started())
	for _, step := range []struct{ said, want time.Time }{
		{epoch.Add(3 * time.Second), epoch.Add(3 * time.Second)},
		{time.Time{}, epoch.Add(3 * time.Second)},
		{epoch.Add(5 * time.Second), epoch.Add(5 * time.Second)},
	} {
		require.NoError(t, r.Apply(epoch.Add(time.Minute), engine.Confirm(model.Binding{Workload: "a", Node: "n1", Since: step.said})))
		require.Equal(t, step.want, started())
	}
}
