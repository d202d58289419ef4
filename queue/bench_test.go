package queue

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

const crowd = 100_000

func workloads(n int) []*extpoints.WorkloadInfo {
	list := make([]*extpoints.WorkloadInfo, n)
	for i := range list {
		list[i] = &extpoints.WorkloadInfo{Workload: &model.Workload{ID: fmt.Sprintf("workload-%06d", i), Priority: int32(i * 7919 % 10)}}
	}
	return list
}

var nodeAdded = extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}

// benchQueue has two plugins that want to know of new nodes, whose hints say
// no, and one that does not.
func benchQueue(b *testing.B) *Queue {
	no := func(*model.Workload, *extpoints.Event) (extpoints.Hint, error) { return extpoints.HintSkip, nil }
	gone := extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete}
	q, err := New(Timing{}, extpoints.Improved, Hooks{
		Less: byPriority,
		Hints: map[string][]PluginHints{"": {
			{Plugin: "Taint", Events: []extpoints.EventHint{{Event: nodeAdded, Hint: no}}},
			{Plugin: "Label", Events: []extpoints.EventHint{{Event: nodeAdded, Hint: no}}},
			{Plugin: "Fit", Events: []extpoints.EventHint{{Event: gone, Hint: no}}},
		}},
	})
	if err != nil {
		b.Fatal(err)
	}
	return q
}

// BenchmarkAddPop: one operation is one workload added and one popped, with a
// crowd waiting.
func BenchmarkAddPop(b *testing.B) {
	q := benchQueue(b)
	list := workloads(crowd)
	now := start
	for _, w := range list[1:] {
		now = now.Add(time.Microsecond)
		q.Add(now, w)
	}
	next := list[0]
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Microsecond)
		q.Add(now, next)
		it, _ := q.Pop(now)
		q.Done(it.ID())
		next = it.Info
	}
}

// BenchmarkFillDrain: one operation fills an empty queue with a crowd and empties it.
func BenchmarkFillDrain(b *testing.B) {
	list := workloads(crowd)
	b.ReportAllocs()
	for b.Loop() {
		q := benchQueue(b)
		for i, w := range list {
			q.Add(start.Add(time.Duration(i)), w)
		}
		for {
			it, ok := q.Pop(start)
			if !ok {
				break
			}
			q.Done(it.ID())
		}
	}
}

// BenchmarkMove: one operation is one new node, with a crowd unschedulable, of
// which so many were rejected by plugins that want to know.
func BenchmarkMove(b *testing.B) {
	for _, interested := range []int{0, 100, crowd} {
		b.Run(fmt.Sprintf("interested=%d", interested), func(b *testing.B) {
			q := benchQueue(b)
			for i, w := range workloads(crowd) {
				q.Add(start, w)
				it, _ := q.Pop(start)
				by := []string{"Fit"}
				if i%(crowd/max(interested, 1)) == 0 && interested > 0 {
					by = []string{"Fit", "Taint", "Label"}
				}
				q.AddUnschedulable(start, it, by, nil)
			}
			change := &extpoints.Event{ClusterEvent: nodeAdded, NewNode: &model.Node{}}
			b.ReportAllocs()
			for b.Loop() {
				q.Move(start, change, nil)
			}
		})
	}
}

// BenchmarkMoveAlike: one operation is one workload that ends, with a crowd of one class that waits for
// room, of which the first is tried and finds none.
func BenchmarkMoveAlike(b *testing.B) {
	gone := extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete}
	q, err := New(Timing{}, extpoints.Improved, Hooks{
		Less: byPriority, KeepPlace: true,
		Hints: map[string][]PluginHints{"": {{Plugin: "Fit", Events: []extpoints.EventHint{{Event: gone}}}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	reject := func(it *Item) {
		it.Class = "class"
		q.AddUnschedulable(start, it, []string{"Fit"}, nil)
	}
	for i, w := range workloads(crowd) {
		w.Workload.Priority = 0
		q.Add(start.Add(time.Duration(i)), w)
		it, _ := q.Pop(start)
		reject(it)
	}
	change := &extpoints.Event{ClusterEvent: gone}
	b.ReportAllocs()
	for b.Loop() {
		q.Move(start, change, nil)
		it, ok := q.Pop(start)
		if !ok {
			b.Fatal("nobody is tried")
		}
		reject(it)
	}
}

// BenchmarkAttempt: one operation is a failed attempt with a crowd
// unschedulable: pop, 10 events meanwhile, reject, wake.
func BenchmarkAttempt(b *testing.B) {
	q := benchQueue(b)
	now := start
	for _, w := range workloads(crowd) {
		q.Add(now, w)
		it, _ := q.Pop(now)
		q.AddUnschedulable(now, it, []string{"Fit"}, nil)
	}
	change := &extpoints.Event{ClusterEvent: nodeAdded, NewNode: &model.Node{}}
	id := "workload-000042"
	b.ReportAllocs()
	for b.Loop() {
		q.Activate(now, id)
		it, _ := q.Pop(now)
		for range 10 {
			q.Move(now, change, nil)
		}
		q.AddUnschedulable(now, it, []string{"Fit"}, nil)
	}
}

// BenchmarkTick: one operation is a tick at which nothing is due, with a crowd
// unschedulable.
func BenchmarkTick(b *testing.B) {
	q := benchQueue(b)
	for _, w := range workloads(crowd) {
		q.Add(start, w)
		it, _ := q.Pop(start)
		q.AddUnschedulable(start, it, []string{"Fit"}, nil)
	}
	b.ReportAllocs()
	for b.Loop() {
		q.Tick(start)
		q.NextDue(start)
	}
}
