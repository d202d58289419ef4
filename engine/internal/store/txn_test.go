package store

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model"
)

func TestAbortLeavesNothing(t *testing.T) {
	s := inPhaseStore(t, model.Pending, true)
	before, index := s.Snapshot(), s.Index()
	tx := s.Begin()
	require.NoError(t, tx.PutNode(&model.Node{Name: "c"}))
	require.NoError(t, tx.DeleteNode("a"))
	require.NoError(t, tx.Submit(&model.Workload{ID: "v", Group: "g"}))
	require.NoError(t, tx.DeleteWorkload("w"))
	require.Nil(t, tx.Workload("w"))
	tx.Abort()
	tx.Abort()
	require.Nil(t, tx.Commit(), "of no effect once ended")
	require.Equal(t, index, s.Index())
	require.Equal(t, slices.Collect(before.Nodes()), slices.Collect(s.Nodes()))
	require.Equal(t, slices.Collect(before.Workloads()), slices.Collect(s.Workloads()))
	require.Equal(t, slices.Collect(before.WorkloadsOf("g")), slices.Collect(s.WorkloadsOf("g")))
	tx = s.Begin()
	require.NoError(t, tx.PutNode(&model.Node{Name: "c"}))
	tx.Commit()
	require.EqualValues(t, 3, s.Node("c").Seq, "the sequence has no gap")
	require.Equal(t, index+1, s.Index())
}

func TestUseAfterEndPanics(t *testing.T) {
	s := New()
	tx := s.Begin()
	tx.Commit()
	require.Panics(t, func() { tx.Node("a") })
	require.Panics(t, func() { _ = tx.PutNode(&model.Node{Name: "a"}) })
	require.Panics(t, func() {
		for range tx.Nodes() {
		}
	})
}

func TestNoChangeIsNoCommit(t *testing.T) {
	s := inPhaseStore(t, model.Pending, true)
	index := s.Index()
	tx := s.Begin()
	require.NoError(t, tx.Submit(&model.Workload{ID: "v"}))
	require.NoError(t, tx.DeleteWorkload("v"))
	require.NoError(t, tx.Nominate("w", "a"), "as it was")
	require.Nil(t, tx.Commit())
	require.Equal(t, index, s.Index())
}

func TestWriteInsideLoop(t *testing.T) {
	s := New()
	tx := s.Begin()
	for i := range 100 {
		require.NoError(t, tx.Submit(&model.Workload{ID: fmt.Sprintf("w%02d", i), Group: "g"}))
	}
	for _, seq := range []func() int{
		func() (n int) {
			for w := range tx.WorkloadsIn(model.Pending) {
				require.NoError(t, tx.Terminate(w.Info.ID))
				n++
			}
			return n
		},
		func() (n int) {
			for w := range tx.WorkloadsOf("g") {
				require.NoError(t, tx.DeleteWorkload(w.Info.ID))
				n++
			}
			return n
		},
	} {
		require.Equal(t, 100, seq())
	}
	require.Empty(t, slices.Collect(tx.Workloads()))
	require.Nil(t, tx.Commit())
}

// TestOneBigTransaction goes past all limits inside memdb.
func TestOneBigTransaction(t *testing.T) {
	f := fleet{workloads: 12_000, perNode: 50, grouped: true, batch: 12_000}
	s, specs := f.build(t, nil)
	require.Len(t, slices.Collect(s.WorkloadsIn(model.Bound)), len(specs))
	for n := range s.Nodes() {
		require.Len(t, slices.Collect(s.WorkloadsOn(n.Node.Name)), 50)
	}
	for _, w := range specs {
		require.Equal(t, benchNodeOf(f, specs, w), s.Workload(w.ID).Node)
	}
}

func benchNodeOf(f fleet, specs []*model.Workload, w *model.Workload) string {
	return f.binding(slices.Index(specs, w), specs).Node
}

// TestReadersAndWriter has readers on fresh views, snapshots and branches while
// a writer moves workloads between two nodes so that the sum always is the
// same.
func TestReadersAndWriter(t *testing.T) {
	const workloads = 64
	s := New()
	tx := s.Begin()
	require.NoError(t, tx.PutNode(&model.Node{Name: "a"}))
	require.NoError(t, tx.PutNode(&model.Node{Name: "b"}))
	for i := range workloads {
		require.NoError(t, tx.Place(&model.Workload{ID: fmt.Sprint(i), Group: "g"}, model.Binding{Node: "a", Since: t1}))
	}
	tx.Commit()
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			last := uint64(0)
			for !stop.Load() {
				snap := s.Snapshot()
				n := 0
				newest := uint64(0)
				for _, node := range []string{"a", "b"} {
					for w := range snap.WorkloadsOn(node) {
						n++
						newest = max(newest, w.ModifyIndex)
					}
				}
				if n != workloads || newest != snap.Index() || snap.Index() < last {
					t.Errorf("%d workloads, newest %d, index %d after %d", n, newest, snap.Index(), last)
					return
				}
				last = snap.Index()
				branch := snap.Begin()
				if err := branch.DeleteWorkload("0"); err != nil {
					t.Error(err)
				}
				branch.Commit()
				if len(slices.Collect(snap.WorkloadsOf("g"))) != workloads-1 || s.Workload("0") == nil {
					t.Error("a branch shows in its origin")
				}
			}
		})
	}
	for i := range 2000 {
		id, node := fmt.Sprint(i%workloads), "ab"[i%3%2:][:1]
		tx := s.Begin()
		if tx.Requeue(id) != nil || tx.Confirm(id, node, nil, time.Time{}) != nil {
			t.Error("the writer failed")
		}
		tx.Commit()
	}
	stop.Store(true)
	wg.Wait()
}

// TestWriters has several writers, each adding to what it reads.
func TestWriters(t *testing.T) {
	s := New()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				tx := s.Begin()
				n := len(slices.Collect(tx.Nodes()))
				if err := tx.PutNode(&model.Node{Name: fmt.Sprint(n)}, Absent); err != nil {
					t.Error(err)
				}
				tx.Commit()
			}
		})
	}
	wg.Wait()
	require.Len(t, slices.Collect(s.Nodes()), 400)
	require.EqualValues(t, 400, s.Index())
}

func TestRecords(t *testing.T) {
	s := inPhaseStore(t, model.Bound, true)
	w := s.Workload("w")
	require.Equal(t, model.WorkloadRecord{
		Workload: w.Info.Workload, Phase: model.Bound, Node: "a", Shares: shares, PlacedAt: t1,
		Seq: 1, CreateIndex: 1, ModifyIndex: 1,
	}, w.Record())
	n := s.Node("b")
	require.Equal(t, model.NodeRecord{Node: n.Node, CreateIndex: 1, ModifyIndex: 1}, n.Record())
	require.Equal(t, model.GroupRecord{CreateIndex: 2}, (&Group{CreateIndex: 2}).Record())
	require.Equal(t, model.BudgetRecord{ModifyIndex: 2}, (&Budget{ModifyIndex: 2}).Record())
	require.Equal(t, model.NamespaceRecord{ModifyIndex: 2}, (&Namespace{ModifyIndex: 2}).Record())
}
