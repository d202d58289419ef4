package engine_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

func TestABranchPlansWithoutTouchingTheEngine(t *testing.T) {
	o := &world{}
	r := newRaw(t, o)
	require.NoError(t, r.Apply(epoch, node("n1", 250), task("a", 100)))
	settle(r, epoch)
	index := r.View().Index()

	b := r.Branch()
	require.NoError(t, b.Apply(epoch, tasks(3, 100)...))
	var placed []string
	for i := range 3 {
		d, err := b.Schedule(epoch, fmt.Sprintf("t%03d", i))
		require.NoError(t, err)
		if d.Placed() {
			placed = append(placed, d.Binding.Node)
		} else {
			require.Equal(t, "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming workload.", d.Message)
			require.Equal(t, []string{plugins.NodeResourcesFit}, d.Plugins)
		}
	}
	require.Equal(t, []string{"n1"}, placed)

	require.NoError(t, b.Apply(epoch, node("n2", 1000)))
	d, err := b.Schedule(epoch, "t001")
	require.NoError(t, err)
	require.Equal(t, "n2", d.Binding.Node, "with one node more it would fit")

	require.Equal(t, index, r.View().Index())
	require.Len(t, o.bound, 1, "nothing was bound for the plan")
	_, ok := r.View().Workload("t000")
	require.False(t, ok)
}

func TestBranchesNestAndLiveSideBySide(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 200)))
	require.NoError(t, r.Apply(epoch, tasks(4, 100)...))
	left, right := r.Branch(), r.Branch()
	_, err := left.Schedule(epoch, "t000")
	require.NoError(t, err)
	nested := left.Branch()
	_, err = nested.Schedule(epoch, "t001")
	require.NoError(t, err)

	require.Equal(t, 2, count(nested.View(), model.Assumed))
	require.Equal(t, 1, count(left.View(), model.Assumed))
	require.Equal(t, 0, count(right.View(), model.Assumed))
	require.Equal(t, 0, count(r.View(), model.Assumed))
}

func TestBranchesMayBeUsedByManyGoroutines(t *testing.T) {
	r := newRaw(t, &world{})
	for i := range 50 {
		require.NoError(t, r.Apply(epoch, node(fmt.Sprintf("n%02d", i), 1000)))
	}
	require.NoError(t, r.Apply(epoch, tasks(200, 100)...))
	var wg sync.WaitGroup
	for range 4 {
		b := r.Branch()
		wg.Go(func() {
			for i := range 200 {
				if d, err := b.Schedule(epoch, fmt.Sprintf("t%03d", i)); err != nil || !d.Placed() {
					t.Errorf("t%03d: %v %v", i, d.Message, err)
				}
			}
		})
	}
	settle(r, epoch) // the engine goes on meanwhile
	wg.Wait()
	require.Equal(t, 200, count(r.View(), model.Bound))
}

func TestABranchDecidesAsTheEngineWould(t *testing.T) {
	r := newRaw(t, &world{})
	for i := range 150 {
		require.NoError(t, r.Apply(epoch, node(fmt.Sprintf("n%03d", i), 1000)))
	}
	for i, w := range tasks(100, 300) { // one after the other: the order of the queue is then that of the plan
		require.NoError(t, r.Apply(epoch.Add(time.Duration(i)), w))
	}
	b := r.Branch()
	for i := range 100 {
		_, err := b.Schedule(epoch, fmt.Sprintf("t%03d", i))
		require.NoError(t, err)
	}
	settle(r, epoch.Add(time.Second))
	for w := range r.View().Workloads() {
		planned, _ := b.View().Workload(w.ID)
		require.Equal(t, w.Node, planned.Node, w.ID)
	}
}

func TestABranchRefusesWhatMakesNoSense(t *testing.T) {
	r := newRaw(t, &world{})
	b := r.Branch()
	_, err := b.Schedule(epoch, "a")
	require.ErrorIs(t, err, engine.ErrNotFound)
	require.NoError(t, b.Apply(epoch, task("a", 100)))
	d, err := b.Schedule(epoch, "a")
	require.NoError(t, err)
	require.Equal(t, engine.ErrNoNodes.Error(), d.Message)
	require.NoError(t, b.Apply(epoch, node("n", 1000)))
	_, err = b.Schedule(epoch, "a")
	require.NoError(t, err)
	_, err = b.Schedule(epoch, "a")
	require.ErrorContains(t, err, `workload "a" on a branch: it is Assumed, not Pending`)
	require.ErrorIs(t, b.Apply(epoch, task("a", 1)), engine.ErrExists)
}

// evictor is a PostFilter plugin that wants everything on the first node gone.
type evictor struct{}

func (evictor) Name() string { return "Evictor" }

func (evictor) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, statuses extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	candidates := statuses.WithCode(extpoints.Unschedulable)
	if len(candidates) == 0 {
		return nil, extpoints.NewStatus(extpoints.Unschedulable, "nobody to displace")
	}
	for _, victim := range candidates[0].Workloads {
		s.Evict(victim.ID, "displaced by "+w.ID)
	}
	return &extpoints.PostFilterResult{Nominate: candidates[0].Node.Name}, nil
}

func TestABranchReportsEvictionsAndTheEngineMakesThem(t *testing.T) {
	o := &world{}
	cfg := config(o)
	use(&cfg, evictor{})
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 100), task("old", 100)))
	settle(r, epoch)
	require.NoError(t, r.Apply(epoch, task("new", 100)))

	d, err := r.Branch().Schedule(epoch, "new")
	require.NoError(t, err)
	require.Equal(t, []extpoints.Eviction{{ID: "old", Reason: "displaced by new"}}, d.Evictions)
	require.Equal(t, "n1", d.Nominated)
	require.Empty(t, o.evicted)

	settle(r, epoch)
	for task := r.NextTask(); task != nil; task = r.NextTask() {
		task.Run(t.Context())
		r.Finish(epoch, task)
	}
	require.Equal(t, []string{"old"}, o.evicted)
	w, _ := r.View().Workload("new")
	require.Equal(t, "n1", w.Nominated)
	old, _ := r.View().Workload("old")
	require.Equal(t, model.Terminating, old.Phase)

	later := epoch.Add(5 * time.Second)
	require.NoError(t, r.Apply(later, engine.Remove("old")))
	settle(r, later)
	w, _ = r.View().Workload("new")
	require.Equal(t, "n1", w.Node)
	require.Empty(t, w.Nominated)
}

func TestAPluginThatFailsOnABranchIsAnError(t *testing.T) {
	cfg := config(&world{})
	boom := errors.New("boom")
	use(&cfg, failing{boom})
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 100), task("a", 1)))
	_, err = r.Branch().Schedule(epoch, "a")
	require.ErrorIs(t, err, boom)
	var plugin *extpoints.PluginError
	require.ErrorAs(t, err, &plugin)
	require.Equal(t, &extpoints.PluginError{Point: "Filter", Plugin: "Boom", Workload: "a", Node: "n1", Err: boom}, plugin)
}

// failing is a Filter plugin that is broken.
type failing struct{ err error }

func (failing) Name() string { return "Boom" }

func (f failing) Filter(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	return extpoints.AsStatus(f.err)
}
