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
	"github.com/berth-project/berth/model/modeltest"
)

// BenchmarkDeparture is a full fleet with long queues: in each step one workload ends
// and one like it is submitted, while as many wait for more than any node has, and
// as many again for what four leave on one node. It reports how long the new one
// takes from its submission to its binding, and how many attempts a step costs. Aim:
// at most 5 ms with 20,000 nodes, 300,000 workloads on them and 5,000 that wait; with
// -short a twentieth of that. It fails where the attempts are too many.
func BenchmarkDeparture(b *testing.B) {
	nodes, waiting := 20_000, 5000
	if testing.Short() {
		nodes, waiting = nodes/20, waiting/20
	}
	for _, compat := range compats {
		b.Run(compat.String(), func(b *testing.B) {
			d := newDepartures(b, compat, nodes, waiting)
			var took []time.Duration
			for b.Loop() {
				took = append(took, d.step(b))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(d.attemptsPerStep(), "attempts/step")
			d.checkAttempts(b)
		})
	}
}

var compats = []extpoints.Compat{extpoints.Improved, extpoints.KubeScheduler137}

// A departure wakes few of those that wait, however many there are; in kube-scheduler
// it wakes all.
func TestDepartureWakesFew(t *testing.T) {
	for _, compat := range compats {
		for _, waiting := range []int{40, 400} {
			t.Run(fmt.Sprintf("%v/%d", compat, waiting), func(t *testing.T) {
				d := newDepartures(t, compat, 100, waiting)
				for range 20 {
					d.step(t)
				}
				d.checkAttempts(t)
			})
		}
	}
}

const (
	// perNode is how many workloads fill a node.
	perNode = 15
	// mostAttempts is how many attempts a step may cost.
	mostAttempts = 20
)

// departures is a full fleet, of which one workload after the other departs.
type departures struct {
	raw             *engine.Raw
	compat          extpoints.Compat
	now             time.Time
	random          *rand.Rand
	placed          []string
	waiting         int
	steps, attempts int
}

func newDepartures(tb testing.TB, compat extpoints.Compat, nodes, waiting int) *departures {
	tb.Helper()
	d := &departures{compat: compat, now: epoch, random: rand.New(rand.NewPCG(modeltest.Seed(tb), 1)), waiting: waiting}
	d.raw = fleet(tb, nodes, func(c *engine.Config) {
		c.Compat = compat
		c.Queue.MaxInUnschedulable = 1_000_000 * time.Hour // events alone count here
	})
	var changes []engine.Change
	for i := range nodes * perNode {
		w := ofNode(fmt.Sprintf("p-%d", i), 1)
		d.placed = append(d.placed, w.ID)
		changes = append(changes, engine.Adopt(w, model.Binding{Node: fmt.Sprintf("node-%05d", i%nodes)}))
	}
	for i := range waiting {
		changes = append(changes, engine.Submit(ofNode(fmt.Sprintf("waits-%d", i), []int64{2 * perNode, 4}[i%2])))
	}
	if err := d.raw.Apply(epoch, changes...); err != nil {
		tb.Fatal(err)
	}
	for d.raw.Schedule(epoch) {
	}
	return d
}

// ofNode is a workload that asks for so many of the parts of a node.
func ofNode(id string, parts int64) *model.Workload {
	return &model.Workload{ID: id, Namespace: "default", Labels: labels(), Requests: model.Resources{CPU: parts * 1_000_000 / perNode, Memory: 1 << 30}}
}

// step ends one workload and submits another, and goes on until that is bound. It
// returns how long this took.
func (d *departures) step(tb testing.TB) time.Duration {
	tb.Helper()
	d.now = d.now.Add(20 * time.Second) // no backoff is longer
	d.raw.Tick(d.now)
	d.steps++
	ends, next := d.random.IntN(len(d.placed)), ofNode(fmt.Sprintf("n-%d", d.steps), 1)
	start := time.Now()
	if err := d.raw.Apply(d.now, engine.Remove(d.placed[ends]), engine.Submit(next)); err != nil {
		tb.Fatal(err)
	}
	for bound := false; !bound; d.attempts++ {
		if !d.raw.Schedule(d.now) {
			tb.Fatal("the new one is not placed")
		}
		for t := d.raw.NextTask(); t != nil; t = d.raw.NextTask() {
			bound = bound || t.Workload().ID == next.ID
			t.Run(tb.Context())
			d.raw.Finish(d.now, t)
		}
	}
	took := time.Since(start)
	d.placed[ends] = next.ID
	return took
}

func (d *departures) attemptsPerStep() float64 { return float64(d.attempts) / float64(d.steps) }

// checkAttempts fails where a step takes too many attempts. With kube-scheduler's
// wake-ups it takes one for each that waits, and one for the new one.
func (d *departures) checkAttempts(tb testing.TB) {
	tb.Helper()
	got := d.attemptsPerStep()
	switch {
	case d.compat == extpoints.Improved && got > mostAttempts:
		tb.Errorf("%v attempts a step, at most %d are allowed", got, mostAttempts)
	case d.compat == extpoints.KubeScheduler137 && got != float64(d.waiting+1):
		tb.Errorf("%v attempts a step, want %d", got, d.waiting+1)
	}
}
