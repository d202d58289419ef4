package store

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model"
)

// watched is a question with its answer, and the channel that came with it.
type watched struct {
	name   string
	ask    func() any
	answer any
	fired  <-chan struct{}
}

func watchRow[R any](s *Store, name, id string, watch func(string) (*R, <-chan struct{}), read func(string) *R) watched {
	row, ch := watch(id)
	return watched{fmt.Sprintf("%s(%q)", name, id), func() any { return read(id) }, row, ch}
}

func watchList[R any](name string, rows iter.Seq[*R], ch <-chan struct{}, read func() iter.Seq[*R]) watched {
	return watched{name, func() any { return slices.Collect(read()) }, slices.Collect(rows), ch}
}

// watchAll asks every question there is.
func watchAll(s *Store) []watched {
	var all []watched
	for _, id := range append(slices.Concat(randomIDs, randomNames), "", "none") {
		all = append(all,
			watchRow(s, "Workload", id, s.WatchWorkload, s.Workload),
			watchRow(s, "Node", id, s.WatchNode, s.Node),
			watchRow(s, "Group", id, s.WatchGroup, s.Group),
			watchRow(s, "Budget", id, s.WatchBudget, s.Budget),
			watchRow(s, "Namespace", id, s.WatchNamespace, s.Namespace))
		on, ch := s.WatchWorkloadsOn(id)
		all = append(all, watchList("On "+id, on, ch, func() iter.Seq[*Workload] { return s.WorkloadsOn(id) }))
		of, ch := s.WatchWorkloadsOf(id)
		all = append(all, watchList("Of "+id, of, ch, func() iter.Seq[*Workload] { return s.WorkloadsOf(id) }))
	}
	for p := model.Pending; p <= model.Finished; p++ {
		in, ch := s.WatchPhase(p)
		all = append(all, watchList("In "+p.String(), in, ch, func() iter.Seq[*Workload] { return s.WorkloadsIn(p) }))
	}
	for _, kind := range model.ObjectKinds {
		objects, ch := s.WatchObjects(kind)
		all = append(all, watchList("Objects "+string(kind), objects, ch, func() iter.Seq[*Object] { return s.Objects(kind) }))
		for _, id := range append(slices.Clone(randomObjects), "", "none") {
			ref := model.ObjectRef{Kind: kind, ID: id}
			row, ch := s.WatchObject(ref)
			all = append(all, watched{"Object " + string(kind) + id, func() any { return s.Object(ref) }, row, ch})
		}
	}
	workloads, wch := s.WatchWorkloads()
	nodes, nch := s.WatchNodes()
	groups, gch := s.WatchGroups()
	budgets, bch := s.WatchBudgets()
	namespaces, mch := s.WatchNamespaces()
	return append(all,
		watchList("Workloads", workloads, wch, s.Workloads),
		watchList("Nodes", nodes, nch, s.Nodes),
		watchList("Groups", groups, gch, s.Groups),
		watchList("Budgets", budgets, bch, s.Budgets),
		watchList("Namespaces", namespaces, mch, s.Namespaces))
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// TestWatchesFireExactly asks everything, runs a random transaction, and
// compares: a channel is closed where the answer changed, and only there.
func TestWatchesFireExactly(t *testing.T) {
	r := newRand(t)
	s, d := New(), newTwin()
	for range 200 {
		all := watchAll(s)
		branch := s.Snapshot()
		branchAll := watchAll(branch)
		b := &branchOf{s, d}
		randomTxn(t, r, b)
		d = b.twin
		for _, w := range all {
			now := w.ask()
			changed := !sameAnswer(w.answer, now)
			require.Equal(t, changed, isClosed(w.fired), "%s: %v, then %v", w.name, w.answer, now)
		}
		for _, w := range branchAll {
			require.False(t, isClosed(w.fired), "a branch does not hear of its origin")
		}
	}
}

// sameAnswer compares by identity: a row that was written is another row.
func sameAnswer(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Kind() != reflect.Slice {
		return x.Pointer() == y.Pointer()
	}
	if x.Len() != y.Len() {
		return false
	}
	for i := range x.Len() {
		if x.Index(i).Pointer() != y.Index(i).Pointer() {
			return false
		}
	}
	return true
}

// TestNoLostWakeUp has readers that follow a row by nothing but its watch, on
// the store and through lists, while a writer counts it up.
func TestNoLostWakeUp(t *testing.T) {
	s := New()
	tx := s.Begin()
	require.NoError(t, tx.PutNode(&model.Node{Name: "a"}))
	require.NoError(t, tx.Place(&model.Workload{ID: "w", Group: "g"}, model.Binding{Node: "a", Since: t1}))
	tx.Commit()
	const last = 3000
	var wg sync.WaitGroup
	first := func(rows iter.Seq[*Workload], ch <-chan struct{}) (*Workload, <-chan struct{}) {
		for w := range rows {
			return w, ch
		}
		return nil, ch
	}
	for _, look := range []func() (*Workload, <-chan struct{}){
		func() (*Workload, <-chan struct{}) { return s.WatchWorkload("w") },
		func() (*Workload, <-chan struct{}) { return first(s.WatchWorkloads()) },
		func() (*Workload, <-chan struct{}) { return first(s.WatchPhase(model.Confirmed)) },
		func() (*Workload, <-chan struct{}) { return first(s.WatchWorkloadsOn("a")) },
		func() (*Workload, <-chan struct{}) { return first(s.WatchWorkloadsOf("g")) },
	} {
		wg.Go(func() {
			for {
				w, ch := look()
				if w != nil && w.Info.Priority == last {
					return
				}
				select {
				case <-ch:
				case <-time.After(time.Minute):
					t.Error("a wake-up was lost")
					return
				}
			}
		})
	}
	for i := range last {
		tx := s.Begin()
		if err := tx.UpdateWorkload(&model.Workload{ID: "w", Group: "g", Priority: int32(i + 1)}); err != nil {
			t.Error(err)
		}
		tx.Commit()
	}
	wg.Wait()
}

// TestForgottenWatches checks that watches nobody waits for are bounded, and
// that the bound costs a wake-up and never loses one.
func TestForgottenWatches(t *testing.T) {
	s := New()
	closed := 0
	var all []<-chan struct{}
	for i := range 2 * maxWatches {
		_, ch := s.WatchNode(fmt.Sprint(i))
		all = append(all, ch)
	}
	for _, ch := range all {
		if isClosed(ch) {
			closed++
		}
	}
	require.Len(t, s.watches.waiting, maxWatches)
	require.Equal(t, maxWatches, closed, "who is forgotten is woken")
	_, late := s.WatchNode("a")
	_, again := s.WatchNode("a")
	require.Equal(t, late, again, "one channel for one answer")
	tx := s.Begin()
	require.NoError(t, tx.PutNode(&model.Node{Name: "a"}))
	require.False(t, isClosed(late), "not before the commit")
	tx.Commit()
	require.True(t, isClosed(late))
}
