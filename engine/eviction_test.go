package engine_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// An eviction whose answer comes late must not be taken for one of the
// workload's next placement.
func TestALateEvictionIsForgotten(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("w", 100)))
	settle(r, epoch)
	require.NoError(t, r.Evict(epoch, "w", "first"))
	first := r.NextTask()
	first.Run(t.Context())

	require.NoError(t, r.Apply(epoch, engine.Requeue("w")))
	settle(r, epoch)
	require.NoError(t, r.Evict(epoch, "w", "second"))
	second := r.NextTask()
	require.NotNil(t, second, "the second eviction is another")

	r.Finish(epoch, first)
	w, _ := r.View().Workload("w")
	require.Equal(t, model.Bound, w.Phase)
	second.Run(t.Context())
	r.Finish(epoch, second)
	w, _ = r.View().Workload("w")
	require.Equal(t, model.Terminating, w.Phase)
}

func TestConfirmationsMayBeRepeated(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1), task("w", 100)))
	settle(r, epoch)
	confirm := engine.Confirm(model.Binding{Workload: "w", Node: "n1"})
	require.NoError(t, r.Apply(epoch, confirm))
	index := r.View().Index()
	require.NoError(t, r.Apply(epoch, confirm))
	require.Equal(t, index, r.View().Index())
	require.Error(t, r.Apply(epoch, engine.Confirm(model.Binding{Workload: "w", Node: "n2"})), "it cannot be on two nodes")
}

func TestWhatEndsBeforeItBeganIsNotQueued(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("w", 100), engine.Finish("w")))
	_, queued := r.Queue("w")
	require.False(t, queued)
	require.False(t, r.Schedule(epoch))
}

// keeper is a Reserve plugin with books of its own.
type keeper struct{ holds map[string]bool }

func (*keeper) Name() string { return "Keeper" }

func (k *keeper) Reserve(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) *extpoints.Status {
	k.holds[w.ID] = true
	return nil
}

func (k *keeper) Unreserve(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) {
	delete(k.holds, w.ID)
}

// A workload that is there although Bind reported a failure needs what was
// reserved for it.
func TestALostAnswerKeepsTheReservation(t *testing.T) {
	k := &keeper{holds: map[string]bool{}}
	cfg := config(&world{})
	use(&cfg, k)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1), task("there", 100), task("not there", 100)))
	for r.Schedule(epoch) {
	}
	require.NoError(t, r.Apply(epoch, engine.Confirm(model.Binding{Workload: "there", Node: "n1"})))
	for task := r.NextTask(); task != nil; task = r.NextTask() {
		task.Settle(errors.New("the answer was lost"))
		r.Finish(epoch, task)
	}
	require.Equal(t, map[string]bool{"there": true}, k.holds)
}

// An eviction from a node where the workload is no longer is no reason not to
// ask for one from where it is.
func TestAnEvictionEndsWhereTheWorkloadHasLeft(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("w", 100)))
	settle(r, epoch)
	require.NoError(t, r.Evict(epoch, "w", "first"))
	first := r.NextTask()
	require.NoError(t, r.Apply(epoch, node("n2", 1000), engine.Confirm(model.Binding{Workload: "w", Node: "n2"})))
	require.NoError(t, r.Evict(epoch, "w", "second"))
	second := r.NextTask()
	require.NotNil(t, second)
	for _, task := range []*engine.Task{first, second} {
		w, _ := r.View().Workload("w")
		require.Equal(t, model.Confirmed, w.Phase)
		task.Run(t.Context())
		r.Finish(epoch, task)
	}
	w, _ := r.View().Workload("w")
	require.Equal(t, model.Terminating, w.Phase)
}

// An eviction that came while the workload was being bound is not forgotten
// where the binding fails and the workload is there all the same.
func TestAnEvictionOutlivesALostAnswer(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("w", 100)))
	require.True(t, r.Schedule(epoch))
	bind := r.NextTask()
	require.NoError(t, r.Evict(epoch, "w", "drain"))
	require.NoError(t, r.Apply(epoch, engine.Confirm(model.Binding{Workload: "w", Node: "n1"})))
	bind.Run(t.Context())
	r.Finish(epoch, bind)
	evict := r.NextTask()
	require.NotNil(t, evict)
	evict.Run(t.Context())
	r.Finish(epoch, evict)
	w, _ := r.View().Workload("w")
	require.Equal(t, model.Terminating, w.Phase)
}
