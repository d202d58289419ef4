package queue

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// BenchmarkOrderByQueues: one operation pops a workload, charges it, and takes back what
// an older one was charged, which comes again: with a million that wait in ten thousand
// queues, ten below each, four floors deep.
func BenchmarkOrderByQueues(b *testing.B) {
	q := newOrdered(b)
	q.NodeChanged(nil, &model.Node{Name: "n", Allocatable: model.Resources{CPU: 1 << 40, Memory: 1 << 50}})
	var leaves []string
	var grow func(parent string, depth int)
	grow = func(parent string, depth int) {
		for i := range 10 {
			name := parent + strconv.Itoa(i)
			q.DefinitionChanged(nil, &model.Queue{Name: name, Parent: parent, Weight: int64(1 + i), Max: map[string]int64{model.CPU: 1 << 40}})
			if depth == 4 {
				leaves = append(leaves, name)
			} else {
				grow(name, depth+1)
			}
		}
	}
	grow("", 1)
	now := start
	q.Reorder(now)
	for i := range 1_000_000 {
		q.Add(now.Add(time.Duration(i)), &extpoints.WorkloadInfo{Workload: &model.Workload{
			ID: fmt.Sprintf("w%07d", i), Queue: leaves[i%len(leaves)], Priority: int32(i % 7),
			Requests: model.Resources{CPU: int64(1+i%16) * 1000, Memory: int64(1+i%5) << 30},
		}})
	}
	now = now.Add(time.Hour)
	var running []*extpoints.WorkloadInfo
	var took time.Duration
	b.ReportAllocs()
	for b.Loop() {
		begun := time.Now()
		it, _ := q.Pop(now)
		q.Charge(now, now, noEnd, it.Workload)
		took += time.Since(begun)
		q.Done(it.ID())
		running = append(running, it.Info)
		if len(running) > 10_000 {
			again := running[0]
			running = running[1:]
			q.Discharge(now, again.Workload)
			q.Add(now, again)
		}
	}
	b.ReportMetric(float64(took.Nanoseconds())/float64(b.N), "ns/pop+charge")
}
