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
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/gangscheduling"
	"github.com/berth-project/berth/plugins/holds"
	"github.com/berth-project/berth/plugins/nodeaffinity"
	"github.com/berth-project/berth/plugins/noderesources"
	"github.com/berth-project/berth/plugins/queuesort"
)

// perPlannedNode is how many workloads run on each node of a fleet that plans ahead.
const perPlannedNode = 10

// planned is a full fleet whose engine plans ahead, with workloads that wait. What runs
// asks for different amounts, and ends at different times.
type planned struct {
	*testing.B
	r       *engine.Raw
	now     time.Time
	random  *rand.Rand
	running []string
	made    int
}

func newPlanned(b *testing.B, nodes, waiting int, how engine.Backfill) *planned {
	b.Helper()
	p := &planned{B: b, now: epoch, random: rand.New(rand.NewPCG(1, 1))}
	p.r = fleet(b, nodes, func(c *engine.Config) {
		batch := extpoints.Profile{Name: "batch"}
		extpoints.Use(&batch, queuesort.New, extpoints.NoArgs{})
		extpoints.Use(&batch, noderesources.NewFit, noderesources.FitArgs{})
		extpoints.Use(&batch, nodeaffinity.New, nodeaffinity.Args{}, extpoints.Only("PreFilter", "Filter"))
		extpoints.Use(&batch, holds.New, extpoints.NoArgs{})
		extpoints.Use(&batch, gangscheduling.New, extpoints.NoArgs{})
		extpoints.Use(&batch, defaultbinder.New, extpoints.NoArgs{})
		c.Profiles, c.Backfill = []extpoints.Profile{batch}, how
	})
	var changes []engine.Change
	for i := range nodes * perPlannedNode {
		w := p.job(100_000)
		p.running = append(p.running, w.ID)
		changes = append(changes, engine.Adopt(w, model.Binding{Node: fmt.Sprintf("node-%05d", i%nodes), Since: p.now}))
	}
	p.apply(changes...)
	p.submit(waiting)
	return p
}

// submit has so many more wait.
func (p *planned) submit(waiting int) {
	for i := range waiting {
		p.apply(engine.Submit(p.job(int64(100_000 * (1 + i%8)))))
		p.settle()
	}
}

// job is one that asks for so much, and ends within an hour or ten.
func (p *planned) job(cpu int64) *model.Workload {
	p.made++
	return &model.Workload{
		ID: fmt.Sprintf("w-%d", p.made), Namespace: "default", Requests: model.Resources{CPU: cpu, Memory: 1 << 30},
		Limit: time.Hour + time.Duration(p.random.IntN(9*3600))*time.Second,
	}
}

func (p *planned) apply(changes ...engine.Change) {
	p.Helper()
	if err := p.r.Apply(p.now, changes...); err != nil {
		p.Fatal(err)
	}
}

// settle makes all attempts that there are to be made.
func (p *planned) settle() (attempts int) {
	for p.r.Schedule(p.now) {
		attempts++
		for t := p.r.NextTask(); t != nil; t = p.r.NextTask() {
			t.Settle(nil)
			p.r.Finish(p.now, t)
		}
	}
	return attempts
}

// end ends one that runs, early.
func (p *planned) end() {
	i := p.random.IntN(len(p.running))
	id := p.running[i]
	p.running = slices.Delete(p.running, i, i+1)
	p.apply(engine.Remove(id))
}

// BenchmarkReplan is what an early end costs in a fleet of 1,000 nodes on which 10,000 run and
// 1,000 wait, all with reservations: until the first attempt after it, for which the
// reservations are made anew, is over. Aim: at most 100 ms.
func BenchmarkReplan(b *testing.B) {
	nodes, waiting := 1000, 1000
	if testing.Short() {
		nodes, waiting = nodes/10, waiting/10
	}
	benchmarkReplan(b, newPlanned(b, nodes, waiting, engine.Backfill{Mode: engine.Conservative, Depth: waiting}))
}

// BenchmarkReplanWithHolds is BenchmarkReplan with 100 that wait, without holds and with ten ahead, each
// of a tenth of the nodes. Aim: at most three times as much with them.
func BenchmarkReplanWithHolds(b *testing.B) {
	nodes, waiting := 1000, 100
	if testing.Short() {
		nodes, waiting = nodes/10, waiting/10
	}
	for _, ahead := range []int{0, 10} {
		b.Run(fmt.Sprintf("holds=%d", ahead), func(b *testing.B) {
			p := newPlanned(b, nodes, 0, engine.Backfill{Mode: engine.Conservative, Depth: waiting})
			for i := range ahead {
				h := &model.Hold{Name: fmt.Sprintf("h%d", i), From: p.now.Add(time.Duration(2+i) * time.Hour)}
				h.Until = h.From.Add(time.Hour)
				for n := range nodes / 10 {
					h.Nodes = append(h.Nodes, fmt.Sprintf("node-%05d", n*10+i))
				}
				p.apply(engine.PutObject(h))
			}
			p.submit(waiting)
			benchmarkReplan(b, p)
		})
	}
}

// BenchmarkReplanGangs is BenchmarkReplan with gangs of 16 that wait, each member of which asks for
// most of a node.
func BenchmarkReplanGangs(b *testing.B) {
	nodes, gangs := 100, 50
	if testing.Short() {
		nodes, gangs = nodes/2, gangs/10
	}
	p := newPlanned(b, nodes, 0, engine.Backfill{Mode: engine.Conservative, Depth: gangs})
	for i := range gangs {
		id := fmt.Sprintf("gang-%d", i)
		p.apply(engine.PutGroup(&model.Group{ID: id, Policy: model.Gang, MinCount: 16}))
		limit := time.Hour + time.Duration(p.random.IntN(9*3600))*time.Second
		for range 16 {
			w := p.job(600_000)
			w.Group, w.Limit = id, limit
			p.apply(engine.Submit(w))
		}
		p.settle()
	}
	benchmarkReplan(b, p)
}

// benchmarkReplan is what each early end costs, until the first attempt after it is over.
func benchmarkReplan(b *testing.B, p *planned) {
	b.Helper()
	attempts := 0
	b.ResetTimer()
	for b.Loop() {
		p.now = p.now.Add(time.Second)
		p.end()
		p.r.Schedule(p.now)
		b.StopTimer()
		for t := p.r.NextTask(); t != nil; t = p.r.NextTask() {
			t.Settle(nil)
			p.r.Finish(p.now, t)
		}
		attempts += p.settle()
		b.StartTimer()
	}
	b.ReportMetric(float64(attempts)/float64(b.N), "attempts/end")
}

// BenchmarkBehindReservation is one attempt for something behind a reservation that fits only
// where it is later than one of them allows, and BenchmarkEndWithReservation one early end
// with the attempts that follow, both with EASY.
func BenchmarkBehindReservation(b *testing.B) {
	for _, nodes := range []int{1000, 20_000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			if testing.Short() {
				nodes /= 20
			}
			p := newPlanned(b, nodes, 0, engine.Backfill{Mode: engine.EASY})
			p.apply(engine.Submit(p.job(900_000)))
			p.settle()
			for range nodes / 10 {
				p.end() // there is room for small ones, and not for the first
			}
			p.settle()
			b.ResetTimer()
			for b.Loop() {
				b.StopTimer()
				small := p.job(100_000)
				small.Limit = 100 * time.Hour
				p.apply(engine.Submit(small))
				b.StartTimer()
				if !p.r.Schedule(p.now) {
					b.Fatal("there is nothing to schedule")
				}
				b.StopTimer()
				for t := p.r.NextTask(); t != nil; t = p.r.NextTask() {
					t.Settle(nil)
					p.r.Finish(p.now, t)
				}
				p.apply(engine.Remove(small.ID))
				p.settle()
				b.StartTimer()
			}
		})
	}
}

// BenchmarkEndWithReservation: see BenchmarkBehindReservation.
func BenchmarkEndWithReservation(b *testing.B) {
	for _, nodes := range []int{1000, 20_000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			if testing.Short() {
				nodes /= 20
			}
			p := newPlanned(b, nodes, 0, engine.Backfill{Mode: engine.EASY})
			p.apply(engine.Submit(p.job(900_000)))
			p.settle()
			attempts := 0
			b.ResetTimer()
			for b.Loop() {
				b.StopTimer()
				p.now = p.now.Add(time.Millisecond)
				if len(p.running) == 0 {
					b.Fatal("all have ended")
				}
				b.StartTimer()
				p.end()
				attempts += p.settle()
				b.StopTimer()
				if p.r.QueueCounts().Unschedulable == 0 {
					p.apply(engine.Submit(p.job(900_000)))
					p.settle()
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(attempts)/float64(b.N), "attempts/end")
		})
	}
}
