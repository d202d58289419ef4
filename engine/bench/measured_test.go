package bench

import (
	"testing"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// measuring are what the benchmarks of this file are run with: nobody is told, only
// what every cycle tells, what is meant for everyday use, and all that can be told.
func measuring() map[string]func(*engine.Config) {
	start := time.Now()
	counted := 0
	listen := func(every int) func(*engine.Config) {
		return func(c *engine.Config) {
			c.SampleEvery, c.Clock = every, func() time.Duration { return time.Since(start) }
			c.Listener = engine.Listener{
				PluginRan:       func(engine.PluginRanEvent) {},
				PluginEvaluated: func(engine.PluginEvaluatedEvent) { counted++ },
				HintRan:         func(engine.HintRanEvent) { counted++ },
				ChangeOffered:   func(engine.ChangeOfferedEvent) { counted++ },
			}
		}
	}
	return map[string]func(*engine.Config){"none": func(*engine.Config) {}, "unsampled": listen(1 << 62), "sampled": listen(10), "all": listen(1)}
}

// BenchmarkMeasuredDecision is BenchmarkDecision with 5,000 nodes and a listener
// that does nothing with what it is told. With none it must cost what it costs without.
func BenchmarkMeasuredDecision(b *testing.B) {
	all := measuring()
	for _, name := range []string{"none", "unsampled", "sampled", "all"} {
		b.Run("measured="+name, func(b *testing.B) {
			decide(b, fleet(b, 5000, all[name]))
		})
	}
}

// BenchmarkMeasuredEvent is a node that changes while 10,000 workloads wait that fit
// nowhere, which the hint of the plugin that rejected them is asked about.
func BenchmarkMeasuredEvent(b *testing.B) {
	all := measuring()
	for _, name := range []string{"none", "sampled"} {
		b.Run("measured="+name, func(b *testing.B) {
			r := fleet(b, 100, all[name])
			const waiting = 10_000
			for i := range waiting {
				w := basic(i)
				w.Requests.CPU = 2_000_000
				if err := r.Apply(epoch, engine.Submit(w)); err != nil {
					b.Fatal(err)
				}
				r.Schedule(epoch)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				n := &model.Node{Name: "changing", Allocatable: model.Resources{CPU: int64(1000 + i%2), Memory: 1 << 30}}
				if err := r.Apply(epoch, engine.PutNode(n)); err != nil {
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
