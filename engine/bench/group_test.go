package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// BenchmarkGang is one attempt to place a gang of equal members on an otherwise quiet engine of
// 5,000 nodes: pop, the cycle of each member on a copy, and one transaction for
// all. With a topology key every zone, or every rack of 100 nodes, is tried and the best is
// taken. Submitting and binding are not timed. ns/member is the processor time for each member.
func BenchmarkGang(b *testing.B) {
	for _, gang := range []struct {
		size int
		key  string
	}{{3, ""}, {100, ""}, {1000, ""}, {3, "zone"}, {100, "zone"}, {1000, "zone"}, {4, "rack"}, {100, "rack"}} {
		name := fmt.Sprintf("members=%d", gang.size)
		if gang.key != "" {
			name += "/by=" + gang.key
		}
		for _, path := range paths {
			b.Run(name+"/"+path.name, func(b *testing.B) { placeGangs(b, gang.size, gang.key, path.is) })
		}
	}
}

func placeGangs(b *testing.B, size int, key string, path engine.FastPath) {
	r := fleet(b, 5000, func(c *engine.Config) { c.FastPath = path })
	b.ReportAllocs()
	var cpu time.Duration
	for i := range b.N + 1 {
		if i == 1 { // the first comes with what is done once
			b.ResetTimer()
			cpu = 0
		}
		b.StopTimer()
		group := fmt.Sprintf("g-%d", i)
		changes := []engine.Change{engine.PutGroup(&model.Group{ID: group, Policy: model.Gang, MinCount: int32(size), TopologyKey: key})}
		for j := range size {
			w := basic(i*size + j)
			w.Group = group
			changes = append(changes, engine.Submit(w))
		}
		if err := r.Apply(epoch, changes...); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		before := cpuTime()
		if !r.Schedule(epoch) {
			b.Fatal("there is nothing to schedule")
		}
		cpu += cpuTime() - before
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
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N)/float64(size), "ns/member")
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
				changes := []engine.Change{engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: int32(size)})}
				for j := range size {
					w := basic(j)
					w.Group = "g"
					changes = append(changes, engine.Submit(w))
				}
				for j := range size {
					changes = append(changes, engine.Remove(basic(j).ID))
				}
				changes = append(changes, engine.RemoveGroup("g"))
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
