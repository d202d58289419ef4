package bench

import (
	"testing"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// meters are what the benchmarks of this file are run with: nobody is told, only
// what every cycle tells, what is meant for everyday use, and all that can be told.
func meters() map[string]engine.Meter {
	start := time.Now()
	counted := 0
	m := engine.Meter{
		Clock:           func() time.Duration { return time.Since(start) },
		PluginRan:       func(engine.PluginRanEvent) {},
		PluginEvaluated: func(engine.PluginEvaluatedEvent) { counted++ },
		HintRan:         func(engine.HintRanEvent) { counted++ },
		ChangeOffered:   func(engine.ChangeOfferedEvent) { counted++ },
	}
	unsampled, all := m, m
	unsampled.Every, all.Every = 1<<62, 1
	return map[string]engine.Meter{"none": {}, "unsampled": unsampled, "sampled": m, "all": all}
}

// BenchmarkMeteredDecision is BenchmarkDecision with 5,000 nodes and a meter that
// does nothing with what it is told. With none it must cost what it costs without.
func BenchmarkMeteredDecision(b *testing.B) {
	all := meters()
	for _, name := range []string{"none", "unsampled", "sampled", "all"} {
		b.Run("meter="+name, func(b *testing.B) {
			decide(b, fleet(b, 5000, func(c *engine.Config) { c.Meter = all[name] }))
		})
	}
}

// BenchmarkMeteredEvent is a node that changes while 10,000 workloads wait that fit
// nowhere, which the hint of the plugin that turned them down is asked about.
func BenchmarkMeteredEvent(b *testing.B) {
	all := meters()
	for _, name := range []string{"none", "sampled"} {
		b.Run("meter="+name, func(b *testing.B) {
			r := fleet(b, 100, func(c *engine.Config) { c.Meter = all[name] })
			const waiting = 10_000
			for i := range waiting {
				w := basic(i)
				w.Requests.CPU = 2_000_000
				if err := r.Apply(epoch, engine.Change{Submit: w}); err != nil {
					b.Fatal(err)
				}
				r.Schedule(epoch)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				n := &model.Node{Name: "changing", Allocatable: model.Resources{CPU: int64(1000 + i%2), Memory: 1 << 30}}
				if err := r.Apply(epoch, engine.Change{PutNode: n}); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			if n := r.QueueCounts().Unschedulable; n != waiting {
				b.Fatalf("%d wait, want %d", n, waiting)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/waiting, "ns/workload")
		})
	}
}
