package bench

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// BenchmarkCrowded is one node with many small workloads on it. In a step one of them
// ends and is placed there again, also while ten wait who would fit neither with it gone nor with
// all that they may displace; or the node is lost with all of them. Aim: a loss is
// linear in them, and of a step only the copy of the list of workloads is.
func BenchmarkCrowded(b *testing.B) {
	for _, workloads := range []int{20, 2000, 20_000} {
		b.Run(fmt.Sprintf("workloads=%d/step", workloads), func(b *testing.B) {
			r := packed(b, workloads)
			random := rand.New(rand.NewPCG(1, 1))
			b.ReportAllocs()
			b.ResetTimer()
			start := cpuTime()
			for range b.N {
				endAndPlace(b, r, small(random.IntN(workloads)))
			}
			b.ReportMetric(float64((cpuTime()-start).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
		b.Run(fmt.Sprintf("workloads=%d/waiting", workloads), func(b *testing.B) {
			r := packed(b, workloads)
			waitInVain(b, r, 10)
			random := rand.New(rand.NewPCG(1, 1))
			b.ResetTimer()
			start := cpuTime()
			for range b.N {
				endAndPlace(b, r, small(random.IntN(workloads)))
			}
			b.ReportMetric(float64((cpuTime()-start).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
		b.Run(fmt.Sprintf("workloads=%d/loss", workloads), func(b *testing.B) {
			var took time.Duration
			for range b.N {
				b.StopTimer()
				r := packed(b, workloads)
				runtime.GC()
				start := cpuTime()
				b.StartTimer()
				if err := r.Apply(epoch, engine.LoseNode(crowdedNode)); err != nil {
					b.Fatal(err)
				}
				took += cpuTime() - start
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(b.N*workloads), "cpu-ns/workload")
		})
	}
}

// endAndPlace ends the workload and places it anew.
func endAndPlace(b *testing.B, r *engine.Raw, w *model.Workload) {
	b.Helper()
	if err := r.Apply(epoch, engine.Remove(w.ID), engine.Submit(w)); err != nil {
		b.Fatal(err)
	}
	if !r.Schedule(epoch) {
		b.Fatal("nothing to schedule")
	}
	for t := r.NextTask(); t != nil; t = r.NextTask() {
		t.Run(b.Context())
		r.Finish(epoch, t)
	}
}

// waitInVain has so many wait for more than those leave who are not below them.
func waitInVain(b *testing.B, r *engine.Raw, n int) {
	b.Helper()
	for i := range n {
		w := &model.Workload{ID: fmt.Sprintf("large-%d", i), Priority: 10, Requests: model.Resources{CPU: 999_990}}
		if err := r.Apply(epoch, engine.Submit(w)); err != nil {
			b.Fatal(err)
		}
		r.Schedule(epoch)
	}
	if c := r.QueueCounts(); c.Unschedulable != n {
		b.Fatalf("%+v", c)
	}
}

const crowdedNode = "node-00000"

// packed makes an engine with one node, with so many workloads on it.
func packed(b *testing.B, workloads int) *engine.Raw {
	b.Helper()
	r := fleet(b, 1, nil)
	changes := make([]engine.Change, workloads)
	for i := range changes {
		changes[i] = engine.Adopt(small(i), model.Binding{Node: crowdedNode})
	}
	if err := r.Apply(epoch, changes...); err != nil {
		b.Fatal(err)
	}
	return r
}

func small(i int) *model.Workload {
	w := basic(i)
	w.Requests = model.Resources{CPU: 10, Memory: 1 << 20}
	w.Priority = int32(i % 2 * 20)
	return w
}
