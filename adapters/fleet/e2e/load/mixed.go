package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// kinds of jobs in the mixture, and how many in 450 are of each. Times are in units.
var kinds = []struct {
	name     string
	of450    int
	tasks    int32
	cpu      job.MilliCPU
	from, to float64 // how long it runs
	limit    float64
}{
	{"short", 244, 1, 1000, 2, 7, 10},
	{"long", 149, 1, 1000, 15, 45, 60},
	{"gang of 16", 43, 16, 2000, 10, 30, 40},
	{"8 nodes", 14, 8, 8000, 10, 30, 40},
}

const (
	mixedNodes = 20
	// mixedArrive is over how many units jobs arrive.
	mixedArrive = 100
)

// mixed measures what promises of a start are worth, and how full nodes are, with jobs of very
// different sizes.
func mixed(ctx context.Context, o *options) error {
	return with(ctx, o, "mixed", func(ctx context.Context, f *fleet) error {
		m := &mixture{unit: o.unit, jobs: map[job.ID]*mixedJob{}, began: map[job.ID]time.Time{}}
		specs := m.make(o.mixed)
		end, err := f.simulate(ctx, simulation{count: mixedNodes, machine: placeNode, running: m.running})
		if err != nil {
			return err
		}
		defer end()
		var both errgroup.Group
		both.Go(func() error { return m.submit(ctx, f, specs) })
		both.Go(func() error { return m.watch(ctx, f, len(specs)) })
		if err := both.Wait(); err != nil {
			return err
		}
		m.print()
		return nil
	})
}

// mixture is what is known of the jobs.
type mixture struct {
	unit time.Duration

	mu    sync.Mutex
	jobs  map[job.ID]*mixedJob
	began map[job.ID]time.Time // those that agents have begun
}

// mixedJob is one of them.
type mixedJob struct {
	kind      int
	submitted time.Time
	lasts     time.Duration
	cores     float64 // of all tasks
	// first and last are the first and the last promise of a start, zero where there was none.
	first, last time.Time
}

// mixedSpec is a job to submit.
type mixedSpec struct {
	spec job.Spec
	job  mixedJob
}

// make makes the jobs in the order of their submission, the same ones each time.
func (m *mixture) make(count int) []mixedSpec {
	rng := rand.New(rand.NewPCG(1, 450))
	var specs []mixedSpec
	for i, k := range kinds {
		for range max(1, k.of450*count/450) {
			lasts := time.Duration((k.from + (k.to-k.from)*rng.Float64()) * float64(m.unit))
			grace := job.Duration(time.Second)
			specs = append(specs, mixedSpec{
				job.Spec{
					Name: k.name, Command: sleeping(lasts), Tasks: k.tasks, Resources: job.Resources{CPU: k.cpu},
					TimeLimit: job.Duration(k.limit * float64(m.unit)), KillGrace: &grace,
				},
				mixedJob{kind: i, lasts: lasts, cores: float64(k.tasks) * float64(k.cpu) / 1000},
			})
		}
	}
	rng.Shuffle(len(specs), func(i, j int) { specs[i], specs[j] = specs[j], specs[i] })
	return specs
}

// submit submits them one by one, in even steps.
func (m *mixture) submit(ctx context.Context, f *fleet, specs []mixedSpec) error {
	step := mixedArrive * m.unit / time.Duration(len(specs))
	tick := time.NewTicker(step)
	defer tick.Stop()
	for _, s := range specs {
		s.job.submitted = time.Now()
		got, err := f.admin.Submit(ctx, api.SubmitRequest{Jobs: []job.Spec{s.spec}})
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.jobs[got.Jobs[0]] = &s.job
		m.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// running notes when the first task of a job begins.
func (m *mixture) running(k job.TaskID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.began[k.Job]; !ok {
		m.began[k.Job] = time.Now()
	}
}

// watch notes promises until so many jobs have begun.
func (m *mixture) watch(ctx context.Context, f *fleet, count int) error {
	limit := time.Now().Add(15 * time.Minute)
	for {
		waiting, err := f.admin.Jobs(ctx, client.JobFilter{State: string(job.Pending), Limit: api.MaxPage})
		if err != nil {
			return err
		}
		m.mu.Lock()
		for _, j := range waiting.Jobs {
			if mine := m.jobs[j.ID]; mine != nil && !j.ExpectedStart.IsZero() {
				mine.last = j.ExpectedStart
				if mine.first.IsZero() {
					mine.first = j.ExpectedStart
				}
			}
		}
		begun := len(m.began)
		m.mu.Unlock()
		switch {
		case begun == count:
			return nil
		case time.Now().After(limit):
			return fmt.Errorf("%d of %d jobs began within 15 minutes", begun, count)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(m.unit / 4):
		}
	}
}

// print says how long jobs waited, how full nodes were, and what was promised.
func (m *mixture) print() {
	m.mu.Lock()
	defer m.mu.Unlock()
	waits := make([][]time.Duration, len(kinds))
	var first, end time.Time
	work := 0.0
	for id, j := range m.jobs {
		waits[j.kind] = append(waits[j.kind], m.began[id].Sub(j.submitted))
		if first.IsZero() || j.submitted.Before(first) {
			first = j.submitted
		}
		if e := m.began[id].Add(j.lasts); e.After(end) {
			end = e
		}
		work += j.cores * j.lasts.Seconds()
	}
	for i, k := range kinds {
		fmt.Printf("%-10s  %3d jobs waited: %s\n", k.name, len(waits[i]), spread(waits[i]))
	}
	cores := float64(mixedNodes) * float64(placeNode.CPU) / 1000
	span := end.Sub(first)
	fmt.Printf("all ended after %s; %.1f %% of the cores were busy\n", round(span), 100*work/cores/span.Seconds())
	m.printPromises()
}

// late is by how much a start may be noticed later than it was.
const late = time.Second

func (m *mixture) printPromises() {
	promised, atOnce, brokenFirst, brokenLast := 0, 0, 0, 0
	var early []time.Duration
	for id, j := range m.jobs {
		began := m.began[id]
		if j.first.IsZero() {
			if began.Sub(j.submitted) < late {
				atOnce++
			}
			continue
		}
		promised++
		if began.After(j.first.Add(late)) {
			brokenFirst++
		}
		if began.After(j.last.Add(late)) {
			brokenLast++
		}
		early = append(early, j.first.Sub(began))
	}
	fmt.Printf("%d of %d jobs had an expected start while they waited, %d began within %s without; %d began later than the first one, %d later than the last\n",
		promised, len(m.jobs), atOnce, late, brokenFirst, brokenLast)
	if len(early) > 0 {
		fmt.Printf("earlier than first expected: %s\n", spread(early))
	}
}
