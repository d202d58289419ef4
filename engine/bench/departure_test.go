package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// BenchmarkDeparture is a full fleet with long queues: in each step one workload ends
// and one like it is submitted, while as many wait for more than any node has, and
// as many again for what four leave on one node. It reports how long the new one
// takes from its submission to its binding, and how many attempts a step costs. Aim:
// at most 5 ms and 20 attempts with 20,000 nodes, 300,000 workloads on them and 5,000
// that wait; with -short a twentieth of that.
func BenchmarkDeparture(b *testing.B) {
	nodes, waiting := 20_000, 5000
	if testing.Short() {
		nodes, waiting = nodes/20, waiting/20
	}
	for _, compat := range []extpoints.Compat{extpoints.Improved, extpoints.KubeScheduler137} {
		b.Run(compat.String(), func(b *testing.B) { depart(b, compat, nodes, waiting) })
	}
}

// perNode is how many workloads fill a node.
const perNode = 15

func depart(b *testing.B, compat extpoints.Compat, nodes, waiting int) {
	r := fleet(b, nodes, func(c *engine.Config) {
		c.Compat = compat
		c.Queue.MaxInUnschedulable = 1_000_000 * time.Hour // events alone count here
	})
	sized := func(id string, cpu int64) *model.Workload {
		return &model.Workload{ID: id, Namespace: "default", Labels: labels(), Requests: model.Resources{CPU: cpu, Memory: 1 << 30}}
	}
	const share = 1_000_000 / perNode
	var placed []string
	var changes []engine.Change
	for i := range nodes * perNode {
		w := sized(fmt.Sprintf("p-%d", i), share)
		placed = append(placed, w.ID)
		changes = append(changes, engine.Adopt(w, model.Binding{Node: fmt.Sprintf("node-%05d", i%nodes)}))
	}
	for i := range waiting {
		changes = append(changes, engine.Submit(sized(fmt.Sprintf("waits-%d", i), []int64{2_000_000, 4 * share}[i%2])))
	}
	if err := r.Apply(epoch, changes...); err != nil {
		b.Fatal(err)
	}
	now := epoch
	for r.Schedule(now) {
	}

	random := rand.New(rand.NewPCG(1, 1))
	var took []time.Duration
	cycles := 0
	for b.Loop() {
		now = now.Add(20 * time.Second) // no backoff is longer
		r.Tick(now)
		ends, next := random.IntN(len(placed)), sized(fmt.Sprintf("n-%d", len(took)), share)
		start := time.Now()
		if err := r.Apply(now, engine.Remove(placed[ends]), engine.Submit(next)); err != nil {
			b.Fatal(err)
		}
		for bound := false; !bound; cycles++ {
			if !r.Schedule(now) {
				b.Fatal("the new one is not placed")
			}
			for t := r.NextTask(); t != nil; t = r.NextTask() {
				bound = bound || t.Workload().ID == next.ID
				t.Run(b.Context())
				r.Finish(now, t)
			}
		}
		took = append(took, time.Since(start))
		placed[ends] = next.ID
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(cycles)/float64(len(took)), "cycles/step")
}
