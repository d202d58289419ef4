package bench

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// BenchmarkMemory reports the heap that an engine needs for a large fleet, per
// node and per workload on a node, in bytes. Every workload has its own ID and
// three labels; in the shared case the label map is one for all, as it is where
// an orchestrator makes its workloads from templates.
func BenchmarkMemory(b *testing.B) {
	const nodes, workloads = 20_000, 500_000
	for _, shared := range []bool{true, false} {
		b.Run(fmt.Sprintf("nodes=%d/workloads=%d/sharedLabels=%v", nodes, workloads, shared), func(b *testing.B) {
			for b.Loop() {
				if testing.Short() {
					measure(b, nodes/100, workloads/100, shared)
				} else {
					measure(b, nodes, workloads, shared)
				}
			}
		})
	}
}

func measure(b *testing.B, nodes, workloads int, shared bool) {
	empty := heap()
	r := fleet(b, nodes, nil)
	withNodes := heap()
	template := labels()
	const batch = 1000
	for done := 0; done < workloads; done += batch {
		changes := make([]engine.Change, 0, batch)
		for i := done; i < min(done+batch, workloads); i++ {
			w := basic(i)
			if w.Labels = template; !shared {
				w.Labels = labels()
			}
			changes = append(changes, engine.Adopt(w, model.Binding{Node: fmt.Sprintf("node-%05d", i%nodes)}))
		}
		if err := r.Apply(epoch, changes...); err != nil {
			b.Fatal(err)
		}
	}
	full := heap()
	b.ReportMetric(float64(withNodes-empty)/float64(nodes), "B/node")
	b.ReportMetric(float64(full-withNodes)/float64(workloads), "B/workload")
	b.ReportMetric(float64(full)/(1<<20), "MiB")
	runtime.KeepAlive(r)
}

func labels() map[string]string {
	return map[string]string{"app": "web", "tier": "front", "release": "2026-11"}
}

// heap is the live heap in bytes.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkBranch is what it costs to take a branch of a large fleet, and to
// plan one workload on it.
func BenchmarkBranch(b *testing.B) {
	r := fleet(b, 5000, nil)
	b.Run("take", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Branch()
		}
	})
	b.Run("plan", func(b *testing.B) {
		b.ReportAllocs()
		w := &model.Workload{ID: "planned", Requests: model.Resources{CPU: 100}}
		for b.Loop() {
			branch := r.Branch()
			if err := branch.Apply(epoch, engine.Submit(w)); err != nil {
				b.Fatal(err)
			}
			if d, err := branch.Schedule(epoch, w.ID); err != nil || !d.Placed() {
				b.Fatal(d.Message, err)
			}
		}
	})
}

// BenchmarkSubmit is the cost of submitting one workload, alone and as part of
// a batch.
func BenchmarkSubmit(b *testing.B) {
	for _, batch := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			r := fleet(b, 100, nil)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				changes := make([]engine.Change, batch)
				for i := range changes {
					changes[i] = engine.Submit(basic(n))
					n++
				}
				if err := r.Apply(epoch, changes...); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/workload")
		})
	}
}
