package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/berth-project/berth/examples/backfill/internal/simulation"
	"github.com/berth-project/berth/examples/backfill/internal/swf"
)

// The log of a run without a file.
const (
	generatedSeed = 1
	generatedJobs = 16
)

// result is what one way of backfilling came to.
type result struct {
	backfill simulation.Backfill
	priority simulation.Priority // empty where the engine has the order
	parts    []part
	summary  simulation.Summary // of all parts
}

// part is one run: over the whole log, or over a window of it.
type part struct {
	start    int // index of its first job
	workload simulation.Workload
	outcomes []simulation.Outcome
}

// load returns the log with the size of the machine.
func (o *options) load() (*swf.Log, error) {
	log := swf.Generate(generatedSeed, generatedJobs)
	if !o.demo() {
		var err error
		if log, err = swf.Load(o.swf); err != nil {
			return nil, err
		}
	}
	if o.procs > 0 {
		log.Procs = o.procs
	}
	if log.Procs == 0 {
		return nil, fmt.Errorf("the header of %s does not say how many processors the machine has: say it with -procs", o.swf)
	}
	return log, nil
}

// simulate runs the log once for each way of backfilling.
func (o *options) simulate(ctx context.Context, log *swf.Log) ([]result, error) {
	windows, err := o.windows(log)
	if err != nil {
		return nil, err
	}
	var results []result
	for _, b := range o.backfill {
		r := result{backfill: b, priority: o.priority}
		var summaries []simulation.Summary
		for _, p := range windows {
			if o.priority == "" {
				p.outcomes, err = simulation.Plan(ctx, p.workload, b)
			} else {
				p.outcomes, err = simulation.Prioritize(ctx, p.workload, o.priority, b != simulation.None)
			}
			if err != nil {
				return nil, fmt.Errorf("backfill %s: %w", b, err)
			}
			r.parts = append(r.parts, p)
			summaries = append(summaries, simulation.Summarize(p.workload, p.outcomes))
		}
		r.summary = simulation.Mean(summaries)
		results = append(results, r)
	}
	return results, nil
}

// windows are the parts of the log that are to be run. The error lists all windows that
// the log is too short for.
func (o *options) windows(log *swf.Log) ([]part, error) {
	read := simulation.Logged
	if o.priority != "" {
		read = simulation.Ranked
	}
	w, err := read(log, log.Procs, o.perfect)
	if err != nil {
		return nil, err
	}
	var parts []part
	var problems []error
	for _, start := range o.starts {
		end := len(w.Jobs)
		if o.window > 0 {
			end = start + o.window
		}
		if start >= len(w.Jobs) || end > len(w.Jobs) {
			problems = append(problems, fmt.Errorf("-starts: the window from %d does not end within the %d jobs of the log", start, len(w.Jobs)))
			continue
		}
		jobs := w
		jobs.Jobs = w.Jobs[start:end]
		parts = append(parts, part{start: start, workload: jobs})
	}
	return parts, errors.Join(problems...)
}
