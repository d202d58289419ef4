package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// What others do not lend holds a part of the order for as long as it is against it: until they use it
// themselves, or until something else is.
func TestHeldAsLongAsOthersKeep(t *testing.T) {
	t.Parallel()
	var q *Queue
	var now time.Time
	keeps := func(name, parent string, cpu int64) *model.Queue {
		return &model.Queue{Name: name, Parent: parent, Guaranteed: map[string]int64{model.CPU: cpu}, Lend: map[string]int64{model.CPU: 0}}
	}
	of := func(id, queue string, cpu int64) *model.Workload {
		return &model.Workload{ID: id, Queue: queue, Requests: model.Resources{CPU: cpu}, Limit: 10 * time.Second}
	}
	begin := func(cpu int64, definitions ...model.Object) {
		q, now = newOrdered(t), start
		q.NodeChanged(nil, &model.Node{Name: "n", Allocatable: model.Resources{CPU: cpu}})
		for _, o := range definitions {
			q.DefinitionChanged(nil, o)
		}
	}
	add := func(list ...*model.Workload) {
		for _, w := range list {
			q.Add(now, &extpoints.WorkloadInfo{Workload: w})
		}
	}
	charge := func(w *model.Workload) *model.Workload {
		q.Charge(now, now, now.Add(w.Limit), w)
		return w
	}
	pops := func(want ...string) {
		t.Helper()
		var got []string
		for it, ok := q.Pop(now); ok; it, ok = q.Pop(now) {
			got = append(got, it.ID())
		}
		require.Equal(t, want, got)
	}
	held := func(id, want string) {
		t.Helper()
		pos, _ := q.Position(id)
		require.NotNil(t, pos.Standing)
		require.Equal(t, want, pos.Standing.Held.String())
	}

	// They use it themselves.
	begin(10, keeps("a", "", 4), &model.Queue{Name: "b"})
	charge(of("b1", "b", 2))
	add(of("w", "b", 5), of("behind", "b", 1))
	pops()
	held("w", `queue "b": what is left is guaranteed to queue "a": "w" asks for 1m cpu too much now`)
	charge(of("a1", "a", 3))
	pops()
	charge(of("a2", "a", 1))
	pops("w", "behind") // that there is too little room is for plugins to say

	// Something else holds a smaller part, and what is beside that goes on.
	begin(14, keeps("z", "", 4), &model.Queue{Name: "lab", Policy: model.OrderFIFO}, keeps("lab/a", "lab", 4), &model.Queue{Name: "lab/b", Parent: "lab"})
	charge(of("b1", "lab/b", 1))
	other := charge(of("other", "", 5))
	add(of("w", "lab/b", 6), of("x", "lab/a", 1))
	pops()
	held("x", `queue "lab": what is left is guaranteed to queue "z": "w" asks for 2m cpu too much now`)
	q.Discharge(now, other)
	pops("x")
	held("w", `queue "lab/b": what is left is guaranteed to queue "lab/a": "w" asks for 1m cpu too much now`)

	// Something else holds it that comes to an end by itself.
	begin(12, keeps("a", "", 4), &model.Queue{Name: "b"},
		&model.Limit{Name: "often", Queue: "b", Scope: model.LimitSubtree, Measure: model.LimitResourceSeconds, Resource: model.CPU, Amount: 70, HalfLife: time.Minute})
	other = charge(of("other", "", 5))
	add(of("w", "b", 5))
	pops()
	held("w", `queue "b": what is left is guaranteed to queue "a": "w" asks for 2m cpu too much now`)
	b1 := charge(of("b1", "b", 3))
	now = now.Add(10 * time.Second)
	q.Discharge(now, b1)
	q.Discharge(now, other)
	pops()
	held("w", `limit "often": "w" asks for 9m cpu-seconds too much now`)
	now = now.Add(time.Hour)
	q.Tick(now)
	pops("w")
}

// In a look ahead, too, a queue that has used up what it kept holds nobody, and what does so then is said.
func TestTurnsUseUpWhatOthersKeep(t *testing.T) {
	t.Parallel()
	q := newOrdered(t)
	q.NodeChanged(nil, &model.Node{Name: "n", Allocatable: model.Resources{CPU: 20}})
	q.DefinitionChanged(nil, &model.Queue{Name: "lab", Policy: model.OrderFIFO, Max: map[string]int64{model.CPU: 10}})
	q.DefinitionChanged(nil, &model.Queue{Name: "lab/a", Parent: "lab", Guaranteed: map[string]int64{model.CPU: 4}, Lend: map[string]int64{model.CPU: 0}})
	q.DefinitionChanged(nil, &model.Queue{Name: "lab/b", Parent: "lab"})
	q.Charge(start, start, noEnd, &model.Workload{ID: "runs", Queue: "lab/b", Requests: model.Resources{CPU: 1}})
	turns := q.Turns()
	put := func(id, queue string, cpu int64) {
		q.Add(start, &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id, Queue: queue, Requests: model.Resources{CPU: cpu}}})
		turns.Put(q.waiting[id])
	}
	put("big", "lab/b", 6)
	require.Empty(t, idsOf(turns.All()))
	turns.NoteHeld()
	require.Equal(t, `queue "lab/b": what is left is guaranteed to queue "lab/a": "big" asks for 1m cpu too much now`, turns.Held("big").String())
	put("own", "lab/a", 4)
	require.Equal(t, []string{"own"}, idsOf(turns.All()))
	turns.NoteHeld()
	require.Equal(t, `queue "lab": max: "big" asks for 1m cpu too much now`, turns.Held("big").String())
}
