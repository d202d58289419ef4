package bench

import (
	"context"
	"io"
	"testing"

	"github.com/berth-project/berth/engine"
)

// BenchmarkRecorded is the way of a workload through an engine of 1,000 nodes, from
// Submit to Remove, with a recorder and without.
func BenchmarkRecorded(b *testing.B) {
	for _, recorded := range []bool{false, true} {
		name := map[bool]string{false: "recorder=none", true: "recorder=discard"}[recorded]
		b.Run(name, func(b *testing.B) {
			r := fleet(b, 1000, func(c *engine.Config) {
				if recorded {
					c.Recorder = engine.NewRecorder(io.Discard)
				}
			})
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				w := basic(i)
				if err := r.Apply(epoch, engine.Submit(w)); err != nil {
					b.Fatal(err)
				}
				r.Schedule(epoch)
				t := r.NextTask()
				t.Run(context.Background())
				r.Finish(epoch, t)
				if err := r.Apply(epoch, engine.Remove(w.ID)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
