package simulation_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-project/berth/examples/backfill/internal/simulation"
)

// plain is backfill written down simply, for one kind of resource: it steps through
// seconds and knows the future as a list of who holds how many processors until when.
type plain struct {
	w            simulation.Workload
	reservations int
	shortest     bool
	queue        []int
	running      []hold
	out          []simulation.Outcome
}

// hold is processors that are taken in [from, to).
type hold struct{ job, procs, from, to, end int64 }

// free is the smallest number of processors that are free in [from, to).
func free(total int64, holds []hold, from, to int64) int64 {
	least := total
	moments := []int64{from}
	for _, h := range holds {
		if h.from > from && h.from < to {
			moments = append(moments, h.from)
		}
	}
	for _, m := range moments {
		left := total
		for _, h := range holds {
			if h.from <= m && m < h.to {
				left -= h.procs
			}
		}
		least = min(least, left)
	}
	return least
}

// earliest is when the job fits next to the holds.
func (p *plain) earliest(now int64, job int, holds []hold) int64 {
	j := &p.w.Jobs[job]
	moments := []int64{now}
	for _, h := range holds {
		moments = append(moments, max(now, h.to))
	}
	slices.Sort(moments)
	for _, m := range moments {
		if free(p.w.Procs, holds, m, m+j.Estimate) >= j.Procs {
			return m
		}
	}
	panic("it never fits")
}

// pass starts what may start now. The first that do not fit have reservations; when all
// reservations are given the rest may be taken in another order.
func (p *plain) pass(now int64) {
	holds, left := slices.Clone(p.running), p.w.Procs
	for i := range holds {
		if holds[i].to != now || holds[i].end != now { // all but what ends now as planned
			left -= holds[i].procs
		}
		if holds[i].to < now {
			holds[i].to = now + 1 // it runs over, and may end at any moment
		}
	}
	reserved := 0
	first := true
	rest := slices.Clone(p.queue)
	for len(rest) > 0 {
		if p.shortest && reserved > 0 && first {
			first = false
			slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(p.w.Jobs[a].Estimate, p.w.Jobs[b].Estimate) })
		}
		job := rest[0]
		rest = rest[1:]
		j := &p.w.Jobs[job]
		at := p.earliest(now, job, holds)
		h := hold{int64(job), j.Procs, at, at + j.Estimate, at + j.Run}
		switch {
		case at == now && j.Procs <= left:
			left -= j.Procs
			p.out[job] = simulation.Outcome{Wait: now - j.Submit, Backfilled: p.queue[0] != job}
			p.queue = slices.DeleteFunc(p.queue, func(q int) bool { return q == job })
			p.running = append(p.running, h)
			holds = append(holds, h)
		case p.reservations == 0:
			return // nobody overtakes
		case reserved < p.reservations:
			reserved++
			holds = append(holds, h)
		}
	}
}

// run is for jobs in the order of submission. Where one runs for longer than estimated, no
// other may be planned to end in a second in which something else happens.
func (p *plain) run() []simulation.Outcome {
	p.out = make([]simulation.Outcome, len(p.w.Jobs))
	next := 0
	for now := int64(0); next < len(p.w.Jobs) || len(p.running) > 0; now++ {
		for ; next < len(p.w.Jobs) && p.w.Jobs[next].Submit == now; next++ {
			p.queue = append(p.queue, next)
			p.pass(now)
		}
		// Of jobs that end in the same second the one that started first is first.
		for i := 0; i < len(p.running); {
			if p.running[i].end != now {
				i++
				continue
			}
			p.running = slices.Delete(p.running, i, i+1)
			p.pass(now)
		}
	}
	return p.out
}

// draw makes a workload for a small machine, on which things often end in the same
// second.
func draw(r *rand.Rand, jobs int, perfect bool) simulation.Workload {
	w := simulation.Workload{Procs: 2 + r.Int64N(9)}
	var now int64
	for i := range jobs {
		now += r.Int64N(4) * r.Int64N(2)
		run := 1 + r.Int64N(10)
		said := run
		if !perfect && r.IntN(2) == 0 {
			said += r.Int64N(10)
		}
		w.Jobs = append(w.Jobs, simulation.Job{Number: int64(i + 1), Submit: now, Run: run, Procs: 1 + r.Int64N(w.Procs), Estimate: said})
	}
	return w
}

func planned(t *testing.T, w simulation.Workload, b simulation.Backfill) []simulation.Outcome {
	t.Helper()
	outcomes, err := simulation.Plan(context.Background(), w, b)
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// The engine, which knows nothing of processors but what its filters say, starts every
// job when the plain rules do. The plain rules plan everything anew after each event; where
// jobs end before their estimates that puts the second reservation off and all behind it,
// while the engine keeps what it has promised (see TestReservationsAreKept of the engine). So
// with several reservations they are compared with perfect estimates.
func TestPlanIsThePlainOne(t *testing.T) {
	tests := []struct {
		backfill simulation.Backfill
		plain    plain
	}{
		{simulation.None, plain{reservations: 0}},
		{simulation.EASY, plain{reservations: 1}},
		{simulation.EASYShortest, plain{reservations: 1, shortest: true}},
		{"k=1", plain{reservations: 1}},
		{"k=2", plain{reservations: 2}},
		{"k=3", plain{reservations: 3}},
		{simulation.Conservative, plain{reservations: 1 << 30}},
	}
	runs := uint64(40)
	if testing.Short() {
		runs = 5
	}
	for _, test := range tests {
		for _, perfect := range []bool{true, false} {
			if !perfect && test.plain.reservations > 1 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%t", test.backfill, perfect), func(t *testing.T) {
				t.Parallel()
				for seed := range runs {
					p := test.plain
					p.w = draw(rand.New(rand.NewPCG(seed, 1)), 30, perfect)
					want := p.run()
					got := planned(t, p.w, test.backfill)
					for i := range want {
						if got[i] != want[i] {
							t.Errorf("seed %d: job %d of %v has %+v, want %+v", seed, i+1, p.w, got[i], want[i])
							break
						}
					}
				}
			})
		}
	}
}

// Jobs that run over are expected to end within a second, for as long as they do not.
func TestOverruns(t *testing.T) {
	for _, test := range []struct {
		backfill     simulation.Backfill
		reservations int
	}{{simulation.None, 0}, {simulation.EASY, 1}} {
		for seed := range uint64(30) {
			w := draw(rand.New(rand.NewPCG(seed, 4)), 30, false)
			for i := range w.Jobs {
				// Events are at even seconds, and estimates end at odd ones.
				j := &w.Jobs[i]
				j.Submit, j.Run, j.Estimate = 2*j.Submit, 2*j.Run, 2*j.Estimate+1
				if i%3 == 0 {
					j.Estimate = 1
				}
			}
			p := plain{w: w, reservations: test.reservations}
			want := p.run()
			got := planned(t, w, test.backfill)
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("%s, seed %d: job %d of %v has %+v, want %+v", test.backfill, seed, i+1, w, got[i], want[i])
					break
				}
			}
		}
	}
}
