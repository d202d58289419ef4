package bench

import (
	"fmt"
	"slices"
	"testing"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// BenchmarkGang is one attempt to place a gang on an otherwise quiet engine of
// 5,000 nodes: pop, the cycle of each member on a copy, and one transaction for
// all. With a topology key every zone is tried and the best is taken. Submitting
// and binding are not timed. ns/member is the price by the member.
func BenchmarkGang(b *testing.B) {
	for _, size := range []int{3, 100, 1000} {
		for _, key := range []string{"", "zone"} {
			name := fmt.Sprintf("members=%d", size)
			if key != "" {
				name += "/by=" + key
			}
			b.Run(name, func(b *testing.B) { placeGangs(b, size, key) })
		}
	}
}

func placeGangs(b *testing.B, size int, key string) {
	r := fleet(b, 5000, nil)
	b.ReportAllocs()
	for i := range b.N {
		b.StopTimer()
		group := fmt.Sprintf("g-%d", i)
		changes := []engine.Change{{PutGroup: &model.Group{ID: group, Policy: model.Gang, MinCount: int32(size), TopologyKey: key}}}
		for j := range size {
			w := basic(i*size + j)
			w.Group = group
			changes = append(changes, engine.Change{Submit: w})
		}
		if err := r.Apply(epoch, changes...); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if !r.Schedule(epoch) {
			b.Fatal("there is nothing to schedule")
		}
		b.StopTimer()
		placed := 0
		for t := r.NextTask(); t != nil; t = r.NextTask() {
			t.Settle(nil)
			r.Finish(epoch, t)
			placed++
		}
		if placed != size {
			b.Fatalf("%d of %d members are placed", placed, size)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/member")
}

// BenchmarkGangComesAndGoes is a gang that is submitted, and taken back while it
// waits, member by member, in batches: what the queue does for each. ns/member is
// the price by the member, which should not grow with the gang.
func BenchmarkGangComesAndGoes(b *testing.B) {
	for _, size := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprintf("members=%d", size), func(b *testing.B) {
			r := fleet(b, 100, nil)
			b.ReportAllocs()
			for b.Loop() {
				changes := []engine.Change{{PutGroup: &model.Group{ID: "g", Policy: model.Gang, MinCount: int32(size)}}}
				for j := range size {
					w := basic(j)
					w.Group = "g"
					changes = append(changes, engine.Change{Submit: w})
				}
				for j := range size {
					changes = append(changes, engine.Change{Remove: basic(j).ID})
				}
				changes = append(changes, engine.Change{RemoveGroup: "g"})
				for batch := range slices.Chunk(changes, 1000) {
					if err := r.Apply(epoch, batch...); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/member")
		})
	}
}
