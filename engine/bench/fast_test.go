package bench

import (
	"fmt"
	"testing"

	"github.com/berth-project/berth/engine"
)

// BenchmarkHopeless is one try of a workload that fits nowhere, with its diagnosis, among 5,000 of
// 20 kinds on 20,000 nodes: an event wakes them all, and each is tried.
func BenchmarkHopeless(b *testing.B) {
	const nodes, waiting, kinds = 20_000, 5000, 20
	for _, path := range paths {
		b.Run(path.name, func(b *testing.B) {
			r := fleet(b, nodes, func(c *engine.Config) { c.FastPath = path.is })
			hopeless(b, r, waiting, kinds)
			b.ReportAllocs()
			b.ResetTimer()
			left := waiting - 2*kinds
			for range b.N {
				if left == 0 {
					b.StopTimer()
					hopeless(b, r, waiting, kinds)
					left = waiting - 2*kinds
					b.StartTimer()
				}
				left--
				if !r.Schedule(epoch) {
					b.Fatal("nothing to schedule")
				}
			}
		})
	}
}

// hopeless submits workloads that fit nowhere in place of those that did not before, and tries
// each kind twice, so that it is known.
func hopeless(b *testing.B, r *engine.Raw, n, kinds int) {
	b.Helper()
	for r.Schedule(epoch) {
	}
	var changes []engine.Change
	for i := range n {
		w := basic(i)
		w.Requests.CPU = 2_000_000 + int64(i%kinds)
		if _, there := r.View().Workload(w.ID); there {
			changes = append(changes, engine.Remove(w.ID))
		}
		changes = append(changes, engine.Submit(w))
	}
	if err := r.Apply(epoch, changes...); err != nil {
		b.Fatal(err)
	}
	for range 2 * kinds {
		r.Schedule(epoch)
	}
}

// BenchmarkPlan is 1,000 workloads of ten kinds, scheduled on a branch of 20,000 nodes.
func BenchmarkPlan(b *testing.B) {
	const planned, kinds = 1000, 10
	for _, path := range paths {
		b.Run(path.name, func(b *testing.B) {
			r := fleet(b, 20_000, func(c *engine.Config) { c.FastPath = path.is })
			changes := make([]engine.Change, planned)
			for i := range changes {
				w := basic(i)
				w.Requests.CPU += int64(i % kinds)
				changes[i] = engine.Submit(w)
			}
			b.ReportAllocs()
			for b.Loop() {
				branch := r.Branch()
				if err := branch.Apply(epoch, changes...); err != nil {
					b.Fatal(err)
				}
				for i := range planned {
					if d, err := branch.Schedule(epoch, fmt.Sprintf("w-%d", i)); err != nil || !d.Placed() {
						b.Fatal(d, err)
					}
				}
			}
		})
	}
}
