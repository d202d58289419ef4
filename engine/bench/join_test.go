package bench

import (
	"fmt"
	"testing"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// BenchmarkJoin is a node that joins between two decisions, with 3,000 and 30,000 nodes
// in three zones. Aim: it hardly depends on how many there are.
func BenchmarkJoin(b *testing.B) {
	for _, nodes := range []int{3000, 30_000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			r := fleet(b, nodes, nil)
			join(b, r, nodes, 0)
			b.ReportAllocs()
			b.ResetTimer()
			start := cpuTime()
			for i := range b.N {
				join(b, r, nodes, i+1)
			}
			b.ReportMetric(float64((cpuTime()-start).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// join adds a node to a fleet of so many, as fleet would, and places the workload.
func join(b *testing.B, r *engine.Raw, nodes, i int) {
	b.Helper()
	name, zone := fmt.Sprintf("node-%05d", nodes+i), fmt.Sprintf("zone-%d", i%3)
	node := &model.Node{
		Name: name, Zone: zone, Labels: map[string]string{"zone": zone, "hostname": name},
		Allocatable: model.Resources{CPU: 1_000_000, Memory: 4 << 40}, MaxWorkloads: 100_000,
	}
	if err := r.Apply(epoch, engine.PutNode(node), engine.Submit(basic(i))); err != nil {
		b.Fatal(err)
	}
	if !r.Schedule(epoch) {
		b.Fatal("nothing to schedule")
	}
}
