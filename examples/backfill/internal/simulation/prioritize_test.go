package simulation_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/berth-project/berth/examples/backfill/internal/simulation"
)

// scores are the published functions, written down once more.
var scores = map[simulation.Priority]func(j simulation.Job) float64{
	simulation.FCFS: func(j simulation.Job) float64 { return float64(j.Submit) },
	simulation.SJF:  func(j simulation.Job) float64 { return float64(j.Estimate)*1e6 + float64(j.Submit) },
	simulation.F1: func(j simulation.Job) float64 {
		return math.Log10(float64(j.Estimate))*float64(j.Procs) + 870*math.Log10(float64(j.Submit))
	},
	simulation.WFP3: func(j simulation.Job) float64 {
		return -math.Pow(float64(-1-j.Submit)/float64(j.Estimate), 3) * float64(j.Procs)
	},
	simulation.UNICEP: func(j simulation.Job) float64 {
		return -(float64(-1-j.Submit) + 1e-15) / (math.Log2(float64(j.Procs)+1e-15) * float64(j.Estimate))
	},
}

// counted is the order of a program with a count of free processors and no engine.
type counted struct {
	w       simulation.Workload
	now     int64
	free    int64
	next    int
	queue   []int
	running []hold
	out     []simulation.Outcome
}

func (c *counted) start(job int, backfilled bool) {
	j := &c.w.Jobs[job]
	c.out[job] = simulation.Outcome{Wait: c.now - j.Submit, Backfilled: backfilled}
	c.free -= j.Procs
	c.running = append(c.running, hold{procs: j.Procs, to: c.now + j.Estimate, end: c.now + j.Run})
	slices.SortStableFunc(c.running, func(a, b hold) int { return cmp.Compare(a.end, b.end) })
	c.queue = slices.DeleteFunc(c.queue, func(q int) bool { return q == job })
}

func (c *counted) advance() {
	if c.next < len(c.w.Jobs) && (len(c.running) == 0 || c.w.Jobs[c.next].Submit <= c.running[0].end) {
		c.now = max(c.now, c.w.Jobs[c.next].Submit)
		c.queue = append(c.queue, c.next)
		c.next++
		return
	}
	c.now, c.free = c.running[0].end, c.free+c.running[0].procs
	c.running = c.running[1:]
}

// shadow is the planned end at which there is room for so many processors.
func (c *counted) shadow(procs int64) int64 {
	ends, free := slices.Clone(c.running), c.free
	slices.SortStableFunc(ends, func(a, b hold) int { return cmp.Compare(a.to, b.to) })
	for _, h := range ends {
		if free += h.procs; free >= procs {
			return h.to
		}
	}
	panic("it never fits")
}

func (c *counted) run(p simulation.Priority, backfill bool) []simulation.Outcome {
	c.out, c.free = make([]simulation.Outcome, len(c.w.Jobs)), c.w.Procs
	for c.next < len(c.w.Jobs) || len(c.queue) > 0 {
		if len(c.queue) == 0 {
			c.advance()
			continue
		}
		sorted := slices.Clone(c.queue)
		slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(scores[p](c.w.Jobs[a]), scores[p](c.w.Jobs[b])) })
		chosen := sorted[0]
		need := c.w.Jobs[chosen].Procs
		var shadow int64
		if c.free < need {
			shadow = c.shadow(need)
		}
		for c.free < need {
			for _, job := range slices.Clone(c.queue) {
				if j := &c.w.Jobs[job]; backfill && job != chosen && j.Procs <= c.free && c.now+j.Estimate < shadow {
					c.start(job, true)
				}
			}
			c.advance()
		}
		c.start(chosen, false)
	}
	return c.out
}

// A program that asks the engine what fits does what one does that counts.
func TestPrioritizeIsTheCountedOne(t *testing.T) {
	for _, p := range simulation.Priorities() {
		for _, backfill := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", p, backfill), func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(20) {
					w := draw(rand.New(rand.NewPCG(seed, 3)), 40, false)
					for i := range w.Jobs {
						w.Jobs[i].Submit++              // the logarithm of 0 is no order
						w.Jobs[i].Run += int64(i%3) * 2 // some outrun their estimates
					}
					got, err := simulation.Prioritize(context.Background(), w, p, backfill)
					if err != nil {
						t.Fatal(err)
					}
					if want := (&counted{w: w}).run(p, backfill); !reflect.DeepEqual(got, want) {
						t.Errorf("seed %d: %v: got %v, want %v", seed, w, got, want)
					}
				}
			})
		}
	}
}

// Jobs that cannot have come in this order.
func TestPrioritizeRefuses(t *testing.T) {
	w := simulation.Workload{Procs: 1, Jobs: []simulation.Job{{1, 5, 1, 1, 1}, {2, 4, 1, 1, 1}}}
	_, err := simulation.Prioritize(context.Background(), w, simulation.FCFS, false)
	if err == nil || err.Error() != "job 2 comes after job 1 and was submitted before it" {
		t.Errorf("got %v", err)
	}
	if outcomes, err := simulation.Prioritize(context.Background(), simulation.Workload{Procs: 1}, simulation.FCFS, true); err != nil || len(outcomes) > 0 {
		t.Errorf("no jobs: got %v, %v", outcomes, err)
	}
}
