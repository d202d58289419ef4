package queue

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// asking is a workload that asks for one of a resource.
func asking(id, resource string) *extpoints.WorkloadInfo {
	w := &model.Workload{ID: id, Queue: "q"}
	w.Requests.Set(resource, 1)
	return &extpoints.WorkloadInfo{Workload: w}
}

// Names of resources are forgotten that only workloads have asked for which are gone, though no
// node and no definition changes meanwhile.
func TestResourcesThatNobodyHasAreForgotten(t *testing.T) {
	q := newOrdered(t)
	now := time.Unix(0, 0)
	q.DefinitionChanged(nil, &model.Queue{Name: "q"})
	n := &model.Node{Name: "n"}
	n.Allocatable.Set("offered", 5)
	q.NodeChanged(nil, n)
	charged := asking("stays", "charged").Workload
	q.Charge(now, now, time.Time{}, charged)
	q.Reorder(now)
	for i := range 20_000 {
		id := fmt.Sprint("w", i)
		q.Add(now, asking(id, "once/"+id))
		if it, _ := q.Pop(now); it != nil {
			q.Done(it.ID())
		}
		q.Delete(id)
	}
	require.LessOrEqual(t, len(q.tree.names), 2*manyNames)
	for _, name := range []string{"offered", "charged"} {
		require.Contains(t, q.tree.resources, name)
	}
	for name, r := range q.tree.resources {
		require.Equal(t, name, q.tree.names[r])
	}
	leaf := q.tree.leafOf(charged)
	require.Equal(t, int64(1), leaf.usedOf(q.tree.resources["charged"]))
	require.Equal(t, int64(5), q.tree.capacity[q.tree.resources["offered"]].amount())
	q.Discharge(now, charged)
	require.Zero(t, leaf.usedOf(q.tree.resources["charged"]))
}

// A queue that has never had a workload uses nothing of any resource, also where no resource is known yet.
func TestLevelsOfQueuesThatHaveNeverHadAWorkload(t *testing.T) {
	q := newOrdered(t)
	now := time.Unix(0, 0)
	q.DefinitionChanged(nil, &model.Queue{Name: "q", Weight: 2})
	q.Reorder(now)
	want := []Level{{Queue: "q", Weight: 2}}
	require.Equal(t, want, q.Levels(now))
	q.NodeChanged(nil, &model.Node{Name: "n", Allocatable: model.Resources{CPU: 1000}})
	q.Reorder(now)
	require.Equal(t, want, q.Levels(now))
}
