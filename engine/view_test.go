package engine_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

func TestAViewNeverChanges(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("a", 100)))
	before := r.View()
	settle(r, epoch)
	require.NoError(t, r.Apply(epoch, engine.RemoveNode("n1"), node("n2", 1)))
	after := r.View()

	w, ok := before.Workload("a")
	require.True(t, ok)
	require.Equal(t, model.Pending, w.Phase)
	_, ok = before.Node("n1")
	require.True(t, ok)
	w, _ = after.Workload("a")
	require.Equal(t, model.Bound, w.Phase)
	require.Equal(t, "n1", w.Node)
	require.Equal(t, epoch, w.PlacedAt)
	require.Greater(t, w.ModifyIndex, w.CreateIndex)
	_, ok = after.Node("n1")
	require.False(t, ok)
	require.Greater(t, after.Index(), before.Index())
}

func TestAViewListsByPhaseNodeAndGroup(t *testing.T) {
	r := newRaw(t, &world{})
	grouped := task("m", 100)
	spec(grouped).Group = "g"
	require.NoError(t, r.Apply(epoch,
		engine.PutGroup(&model.Group{ID: "g"}),
		engine.PutBudget(&model.Budget{ID: "b", Selector: &model.Selector{}}),
		engine.PutNamespace(&model.Namespace{Name: "ns"}),
		node("n1", 150), grouped, task("z", 100)))
	settle(r, epoch)
	v := r.View()
	ids := func(list func(func(model.WorkloadRecord) bool)) (ids []string) {
		for w := range list {
			ids = append(ids, w.ID)
		}
		return ids
	}
	require.Equal(t, []string{"m"}, ids(v.WorkloadsOn("n1")))
	require.Equal(t, []string{"m"}, ids(v.WorkloadsOf("g")))
	require.Equal(t, []string{"m"}, ids(v.WorkloadsIn(model.Bound)))
	require.Equal(t, []string{"z"}, ids(v.WorkloadsIn(model.Pending)))
	require.Equal(t, []string{"m", "z"}, ids(v.Workloads()))
	for range v.Nodes() {
		for range v.Groups() {
			for range v.Budgets() {
				for ns := range v.Namespaces() {
					require.Equal(t, "ns", ns.Name)
				}
			}
		}
	}
	_, ok := v.Group("g")
	require.True(t, ok)
	_, ok = v.Budget("b")
	require.True(t, ok)
	_, ok = v.Namespace("other")
	require.False(t, ok)
}

func TestWaitReturnsWhenTheAnswerChanges(t *testing.T) {
	queries := map[string]engine.Query{
		"workloads":    engine.QueryWorkloads(),
		"workload":     engine.QueryWorkload("a"),
		"phase":        engine.QueryPhase(model.Bound),
		"workloads on": engine.QueryWorkloadsOn("n1"),
		"workloads of": engine.QueryWorkloadsOf("g"),
		"nodes":        engine.QueryNodes(),
		"node":         engine.QueryNode("n1"),
		"objects":      engine.QueryObjects(model.VolumeKind),
		"object":       engine.QueryObject(model.ObjectRef{Kind: model.VolumeKind, ID: "v"}),
	}
	for name, q := range queries {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, stop := start(t, config(&world{}))
				require.NoError(t, e.Apply(engine.PutGroup(&model.Group{ID: "g"})))
				seen := make(chan *engine.View, 1)
				go func() {
					v, err := e.View().Wait(t.Context(), q)
					if err == nil {
						seen <- v
					}
				}()
				synctest.Wait()
				require.Empty(t, seen, "nothing has changed yet")
				w := task("a", 100)
				spec(w).Group = "g"
				require.NoError(t, e.Apply(node("n1", 1000), w, engine.PutObject(&model.Volume{Name: "v"})))
				synctest.Wait()
				require.Len(t, seen, 1)
				require.NoError(t, stop())
			})
		})
	}
}

func TestWaitMissesNothingBetweenViews(t *testing.T) {
	e, err := engine.New(config(&world{}))
	require.NoError(t, err)
	v := e.View()
	require.NoError(t, e.Apply(task("a", 100))) // after the view, before the wait
	v, err = v.Wait(t.Context(), engine.QueryWorkload("a"))
	require.NoError(t, err)
	_, ok := v.Workload("a")
	require.True(t, ok)
}

func TestWaitForNothing(t *testing.T) {
	e, err := engine.New(config(&world{}))
	require.NoError(t, err)
	for _, v := range []*engine.View{e.View(), e.Branch().View()} {
		got, err := v.Wait(t.Context(), engine.Query{})
		require.EqualError(t, err, "the zero Query is about nothing; make queries with the functions, for example engine.QueryWorkloads")
		require.Same(t, v, got)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	e, err := engine.New(config(&world{}))
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(engine.ErrStopped)
	_, err = e.View().Wait(ctx, engine.QueryNodes())
	require.ErrorIs(t, err, engine.ErrStopped)
	_, err = e.Branch().View().Wait(ctx, engine.QueryNodes())
	require.ErrorIs(t, err, engine.ErrStopped)
}
