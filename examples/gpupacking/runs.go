package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// simulator runs one policy over the arrivals of one seed, with so many workers.
type simulator func(ctx context.Context, t *trace.Trace, policy trace.Policy, seed int64, workers int) (trace.Run, error)

// job is one run that is wanted.
type job struct {
	policy trace.Policy
	seed   int64
}

// outcome is what happened to a job.
type outcome struct {
	run trace.Run
	err error
}

// runAll runs the jobs, as many at once as there are processors, with more
// than one worker each where there are fewer jobs than that. It hands their answers
// to emit in the order of the jobs, each as soon as it and all before it are there. The
// first error, in that order, ends everything. All goroutines have ended when it
// returns.
func runAll(ctx context.Context, t *trace.Trace, jobs []job, simulate simulator, emit func(trace.Run) error) error {
	ctx, cancel := context.WithCancel(ctx)
	outcomes := make([]chan outcome, len(jobs))
	for i := range outcomes {
		outcomes[i] = make(chan outcome, 1) // workers never wait for the reader
	}
	next := make(chan int, len(jobs))
	for i := range jobs {
		next <- i
	}
	close(next)
	processors := runtime.GOMAXPROCS(0)
	workers := min(processors, len(jobs))
	ended := make(chan struct{}, workers)
	for range workers {
		go func() {
			defer func() { ended <- struct{}{} }()
			for i := range next {
				run, err := simulate(ctx, t, jobs[i].policy, jobs[i].seed, processors/workers)
				outcomes[i] <- outcome{run, err}
			}
		}()
	}
	defer func() {
		cancel()
		for range workers {
			<-ended
		}
	}()
	for i, j := range jobs {
		o := <-outcomes[i]
		if o.err != nil {
			return fmt.Errorf("%s, seed %d: %w", j.policy, j.seed, o.err)
		}
		if err := emit(o.run); err != nil {
			return err
		}
	}
	return nil
}
