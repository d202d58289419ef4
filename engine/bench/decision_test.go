package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// nowhere is an orchestrator that accepts everything and does nothing.
type nowhere struct{}

func (nowhere) Bind(context.Context, *model.Workload, model.Binding) error { return nil }
func (nowhere) Evict(context.Context, *model.Workload, string) error       { return nil }

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// fleet makes an engine with n equal nodes in three zones.
func fleet(b testing.TB, n int, change func(*engine.Config)) *engine.Raw {
	b.Helper()
	cfg := engine.Config{
		Profiles:     []extpoints.Profile{plugins.DefaultProfile()},
		Orchestrator: nowhere{},
	}
	if change != nil {
		change(&cfg)
	}
	r, err := engine.NewRaw(cfg)
	if err != nil {
		b.Fatal(err)
	}
	changes := make([]engine.Change, 0, n)
	for i := range n {
		zone := fmt.Sprintf("zone-%d", i%3)
		changes = append(changes, engine.PutNode(&model.Node{
			Name:         fmt.Sprintf("node-%05d", i),
			Zone:         zone,
			Labels:       map[string]string{"zone": zone, "hostname": fmt.Sprintf("node-%05d", i), "rack": fmt.Sprint(i / 100)},
			Allocatable:  model.Resources{CPU: 1_000_000, Memory: 4 << 40},
			MaxWorkloads: 100_000,
		}))
	}
	if err := r.Apply(epoch, changes...); err != nil {
		b.Fatal(err)
	}
	return r
}

func basic(i int) *model.Workload {
	return &model.Workload{
		ID: fmt.Sprintf("w-%d", i), Namespace: "default",
		Labels:   map[string]string{"app": "bench"},
		Requests: model.Resources{CPU: 100, Memory: 500 << 20},
	}
}

// BenchmarkDecision is one decision of a basic workload on an otherwise quiet
// engine: pop, filter, score, select, reserve (with its store transaction).
// Submitting and binding are not timed.
func BenchmarkDecision(b *testing.B) {
	for _, nodes := range []int{100, 1000, 5000, 20000, 100000} {
		for _, share := range []int32{0, 100} {
			name := fmt.Sprintf("nodes=%d/share=adaptive", nodes)
			if share != 0 {
				name = fmt.Sprintf("nodes=%d/share=%d%%", nodes, share)
			}
			for _, path := range paths {
				b.Run(name+"/"+path.name, func(b *testing.B) {
					r := fleet(b, nodes, func(c *engine.Config) { c.PercentageOfNodesToScore, c.FastPath = share, path.is })
					decide(b, r)
				})
			}
		}
	}
}

// paths are the two deciders, side by side.
var paths = []struct {
	name string
	is   engine.FastPath
}{{"off", engine.FastPathOff}, {"auto", engine.FastPathAuto}}

// decide submits b.N workloads in batches and times their decisions.
func decide(b *testing.B, r *engine.Raw) { decideOn(b, r, basic) }

// decideOn is decide with other workloads, each made of its number.
func decideOn(b *testing.B, r *engine.Raw, workload func(i int) *model.Workload) {
	b.ReportAllocs()
	b.ResetTimer()
	b.StopTimer()
	const batch = 1000
	var cpu time.Duration
	for done := 0; done < b.N; done += batch {
		cpu += decideBatch(b, r, done, min(batch, b.N-done), workload)
	}
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N), "cpu-ns/op")
}

// decideBatch submits so many workloads, from a number on, and times their decisions, in processor
// time too.
func decideBatch(b *testing.B, r *engine.Raw, from, size int, workload func(i int) *model.Workload) time.Duration {
	changes := make([]engine.Change, size)
	for i := range changes {
		changes[i] = engine.Submit(workload(from + i))
	}
	if err := r.Apply(epoch, changes...); err != nil {
		b.Fatal(err)
	}
	b.StartTimer()
	before := cpuTime()
	for range size {
		if !r.Schedule(epoch) {
			b.Fatal("nothing to schedule")
		}
	}
	cpu := cpuTime() - before
	b.StopTimer()
	for t := r.NextTask(); t != nil; t = r.NextTask() {
		t.Run(context.Background())
		r.Finish(epoch, t)
	}
	if n := r.QueueCounts().Unschedulable; n > 0 {
		b.Fatalf("%d workloads did not fit", n)
	}
	return cpu
}
