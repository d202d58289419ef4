package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// By queues those before a workload are those that have their turn before it, also where it was
// rejected, however old or high they are.
func TestAheadByQueues(t *testing.T) {
	q := newOrdered(t)
	for _, name := range []string{"a", "b"} {
		q.DefinitionChanged(nil, &model.Queue{Name: name, Weight: 1})
	}
	q.NodeChanged(nil, &model.Node{Name: "n", Allocatable: model.Resources{CPU: 100}})
	add := func(id, queue string, priority int32) {
		q.Add(start, &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id, Queue: queue, Priority: priority, Requests: model.Resources{CPU: 1}}})
	}
	add("rejected", "b", 0)
	it, ok := q.Pop(start)
	require.True(t, ok)
	q.AddUnschedulable(start, it, []string{"Fit"}, nil)
	for i := range 3 {
		add(fmt.Sprintf("high-%d", i), "a", 9)
	}
	add("low", "b", 0)
	q.Charge(start, start, noEnd, &model.Workload{ID: "runs", Queue: "a", Requests: model.Resources{CPU: 50}})
	require.Zero(t, q.Ahead("low"), "queue b uses nothing")
	require.Zero(t, q.Ahead("rejected"))
	require.Equal(t, 1, q.Ahead("high-0"))
	require.Equal(t, 3, q.Ahead("high-2"))
	pos, _ := q.Position("high-2")
	require.Equal(t, 3, pos.Standing.Before)
}

// Without queues Ahead counts what InOrder lists before it.
func TestAheadIsThePlaceInOrder(t *testing.T) {
	s := seeds(t, 1)[0]
	r := rand.New(rand.NewPCG(s, 0))
	q, err := New(Timing{}, extpoints.Improved, Hooks{Less: byPriorityAndAge})
	require.NoError(t, err)
	for i := range 200 {
		q.Add(start, &extpoints.WorkloadInfo{Workload: &model.Workload{ID: fmt.Sprintf("w%d", i), Priority: r.Int32N(5)}})
		if it, ok := q.Pop(start); ok && r.IntN(3) == 0 {
			q.AddUnschedulable(start, it, []string{"Fit"}, nil)
		} else if ok {
			q.Done(it.ID())
			q.Add(start, it.Info)
		}
	}
	for i, it := range q.InOrder() {
		require.Equal(t, i, q.Ahead(it.ID()), "seed %d: %s", s, it.ID())
	}
}
