package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// placeNode is a machine with eight places.
var placeNode = api.Machine{CPU: 8_000, Memory: 64 << 30, Disk: 1 << 40, MaxTasks: 1000}

// gangTasks is how many tasks the gang has, each on two places.
const gangTasks = 32

// order measures in which order jobs start of which very many wait.
func order(ctx context.Context, o *options) error {
	return with(ctx, o, "order", func(ctx context.Context, f *fleet) error {
		q := api.Queue{Name: job.DefaultQueue, MaxQueued: -1, MaxStored: 1 << 30, MaxPriority: 10}
		if err := f.admin.SetQueue(ctx, q); err != nil {
			return err
		}
		w := &watch{starts: map[job.ID]start{}, done: make(chan struct{}), want: o.ordered + 1}
		end, err := f.simulate(ctx, simulation{count: o.places, machine: placeNode, running: w.running})
		if err != nil {
			return err
		}
		defer end()
		if err := w.submit(ctx, f, o.ordered); err != nil {
			return err
		}
		select {
		case <-w.done:
			w.print()
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(15 * time.Minute):
			return fmt.Errorf("not all of %d jobs began within 15 minutes", o.ordered)
		}
	})
}

// lasting is for how long a job runs: for one second at least, and 2.5 on average.
func lasting() time.Duration {
	return time.Second + time.Duration(rand.ExpFloat64()*1.5*float64(time.Second))
}

// short is a job of one place, whose limit is far longer than it takes.
func short(priority int32) job.Spec {
	return job.Spec{
		Command: sleeping(lasting()), Priority: priority,
		Resources: job.Resources{CPU: 1000}, TimeLimit: job.Duration(30 * time.Second),
	}
}

// shorts are so many of them.
func shorts(count int, priority int32) []job.Spec {
	specs := make([]job.Spec, count)
	for i := range specs {
		specs[i] = short(priority)
	}
	return specs
}

// watch notes in which order jobs start.
type watch struct {
	want int
	done chan struct{}

	mu                  sync.Mutex
	starts              map[job.ID]start
	gang                job.ID
	high                []job.ID // of the higher priority
	began, gangAt, last time.Time
}

// start is when a job started, and as which.
type start struct {
	at     time.Time
	number int
}

func (w *watch) running(k job.TaskID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.starts[k.Job]; ok {
		return
	}
	w.starts[k.Job] = start{time.Now(), len(w.starts)}
	if len(w.starts) == w.want {
		close(w.done)
	}
}

// submit submits jobs in their order, some in each request: those of priority 0, with a
// gang amid them, and then a quarter of a higher priority.
func (w *watch) submit(ctx context.Context, f *fleet, count int) error {
	const batch = 20
	w.began = time.Now()
	gang := short(0)
	gang.Tasks, gang.Resources.CPU = gangTasks, 2000
	low := count - count/4
	for i := 0; i < count; i += batch {
		priority := int32(0)
		if i >= low {
			priority = 5
		}
		specs := shorts(min(batch, count-i), priority)
		amid := i <= low/3 && low/3 < i+batch
		if amid {
			specs = append(specs, gang)
		}
		got, err := f.admin.Submit(ctx, api.SubmitRequest{Jobs: specs})
		if err != nil {
			return err
		}
		w.mu.Lock()
		if priority > 0 {
			w.high = append(w.high, got.Jobs...)
		}
		if amid {
			w.gang, w.gangAt = got.Jobs[len(got.Jobs)-1], time.Now()
		}
		w.mu.Unlock()
	}
	w.last = time.Now()
	return nil
}

// print says how far the order was kept.
func (w *watch) print() {
	w.mu.Lock()
	defer w.mu.Unlock()
	high := map[job.ID]bool{}
	var end time.Time
	var highs []time.Time
	for _, id := range w.high {
		high[id] = true
		highs = append(highs, w.starts[id].at)
	}
	slices.SortFunc(highs, time.Time.Compare)
	nearlyAll := highs[len(highs)*99/100] // the next are on their way by the time that these run
	gang := w.starts[w.gang]
	among, passed := 0, 0
	for id, s := range w.starts {
		if !high[id] && s.at.After(w.last) && s.at.Before(nearlyAll) {
			among++
		}
		if id > w.gang && !high[id] && s.number < gang.number {
			passed++
		}
		if s.at.After(end) {
			end = s.at
		}
	}
	since := func(t time.Time) time.Duration { return t.Sub(w.began).Round(10 * time.Millisecond) }
	fmt.Printf("%d jobs accepted in %s, started in %s\n", len(w.starts), since(w.last), since(end))
	fmt.Printf("%d of a higher priority, 99 %% started by %s: %d lower ones started between the last submission and that\n",
		len(w.high), since(nearlyAll), among)
	fmt.Printf("gang of %d, number %d, submitted at %s, started at %s: %d equal ones with larger numbers went first\n",
		gangTasks, w.gang, since(w.gangAt), since(gang.at), passed)
}
