package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// A queue has no other clock than the times that it is told: one that is before the latest counts as
// that, so that nothing is given back, nor charged twice.
func TestATimeThatGoesBackCountsAsTheLatest(t *testing.T) {
	q := newOrdered(t)
	q.Reorder(start)
	q.DefinitionChanged(nil, &model.Queue{Name: "top", Policy: model.OrderUsage, HalfLife: 9000 * time.Hour})
	q.DefinitionChanged(nil, &model.Queue{Name: "q", Parent: "top"})
	q.Reorder(start)
	w := &model.Workload{ID: "w", Queue: "q", Requests: model.Resources{CPU: 1000}}
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	used := func(now int) int64 {
		for _, l := range q.Levels(at(now)) {
			if l.Queue == "q" {
				return (l.Past[model.CPU] + 500) / 1000
			}
		}
		return -1
	}
	q.Charge(at(0), at(0), noEnd, w)
	q.Reorder(at(100))
	require.EqualValues(t, 100, used(100))
	q.Reorder(at(20))
	require.EqualValues(t, 100, used(50))
	q.Discharge(at(50), w)
	require.EqualValues(t, 100, used(100))
	q.Charge(at(60), at(50), noEnd, w) // it has had its room since then, as of 100
	q.Reorder(at(60))
	require.EqualValues(t, 150, used(60))
	q.Reorder(at(110))
	require.EqualValues(t, 160, used(110), "and goes on from the latest")
}

// Within an interval a look at the turns comes to the same whenever it is taken. (From the time of the
// look on, b1 would use more until the end of the next interval than a has used, and then less.)
func TestTurnsStayWithinAnInterval(t *testing.T) {
	q := newOrdered(t)
	q.Reorder(start)
	q.DefinitionChanged(nil, &model.Queue{Name: "top", Policy: model.OrderUsage, HalfLife: 9000 * time.Hour}) // intervals of 16,071 s
	q.DefinitionChanged(nil, &model.Queue{Name: "a", Parent: "top", Weight: 1})
	q.DefinitionChanged(nil, &model.Queue{Name: "b", Parent: "top", Weight: 1})
	q.NodeChanged(nil, &model.Node{Name: "n", Allocatable: model.Resources{CPU: 10_000}})
	q.Reorder(start)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	used := &model.Workload{ID: "used", Queue: "a", Requests: model.Resources{CPU: 1900}}
	q.Charge(at(0), at(0), noEnd, used)
	q.Discharge(at(10_000), used)
	turns := q.Turns()
	var last *Item
	for _, id := range []string{"a1", "b1", "b2"} {
		q.Add(at(10_000), &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id, Queue: id[:1], Requests: model.Resources{CPU: 1000}}})
		it, ok := q.Pop(at(10_000))
		require.True(t, ok)
		q.AddUnschedulable(at(10_000), it, []string{"Fit"}, nil)
		turns.Put(it)
		last = it
	}
	require.Equal(t, []string{"b1", "a1", "b2"}, idsOf(turns.All()))
	q.Reorder(at(15_000))
	turns.Put(last) // it is looked at anew
	require.Equal(t, []string{"b1", "a1", "b2"}, idsOf(turns.All()))
}
