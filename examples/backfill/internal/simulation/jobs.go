package simulation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-project/berth/examples/backfill/internal/swf"
)

// Job is what a simulation knows of a job. Times are in seconds.
type Job struct {
	Number   int64 // in the log
	Submit   int64
	Run      int64 // how long it will really run
	Procs    int64 // at least 1
	Estimate int64 // how long it is said to run; -1: unknown
}

// Outcome is what happened to a job.
type Outcome struct {
	Wait       int64 // seconds from submission to start
	Backfilled bool  // it started while a job before it in the order waited
}

// Workload is what is to be simulated.
type Workload struct {
	Procs   int64 // of the machine
	Jobs    []Job
	LeftOut int // jobs of the log that say too little to be simulated
}

// MaxProcs is the largest machine that can be simulated.
const MaxProcs = 1 << 24

// maxListed is how many jobs an error names.
const maxListed = 10

// ErrTooLarge is wrapped by errors about jobs that the machine can never run.
var ErrTooLarge = errors.New("larger than the machine")

// Logged returns the jobs of the log, in file order, for a machine of so many
// processors. A job needs the processors that it requested, or was allocated where the
// log does not have that. Without a requested time it is said to run as long as
// it does; with perfect that is what all are said. Left out are jobs that have no run
// time or no processors: they never ran.
func Logged(log *swf.Log, procs int64, perfect bool) (Workload, error) {
	w := Workload{Procs: procs}
	for i := range log.Jobs {
		j := &log.Jobs[i]
		n := j.Requested
		if n < 1 {
			n = j.Allocated
		}
		if n < 1 || j.Run < 0 {
			w.LeftOut++
			continue
		}
		w.add(j, Job{Run: j.Run, Procs: n, Estimate: estimate(j, j.Run, perfect)})
	}
	return w, w.check()
}

// Ranked returns the jobs of the log by number, read as the published measurements of
// priority functions do: a job needs what it requested or was allocated, the larger of
// the two; one with an unknown run time ran for 10 seconds, and those that ran for none
// are left out. A job without a requested time is said to run as long as the log has it,
// and that may be -1 as well.
func Ranked(log *swf.Log, procs int64, perfect bool) (Workload, error) {
	const unknownRun = 10
	w := Workload{Procs: procs}
	for i := range log.Jobs {
		j := &log.Jobs[i]
		run, n := j.Run, max(j.Requested, j.Allocated)
		if run < 0 {
			run = unknownRun
		}
		if n < 1 || run == 0 {
			w.LeftOut++
			continue
		}
		said := j.Estimate
		switch {
		case perfect:
			said = run
		case said == -1:
			said = j.Run
		}
		w.add(j, Job{Run: run, Procs: n, Estimate: said})
	}
	slices.SortStableFunc(w.Jobs, func(a, b Job) int { return cmp.Compare(a.Number, b.Number) })
	return w, w.check()
}

func (w *Workload) add(from *swf.Job, j Job) {
	j.Number, j.Submit = from.Number, from.Submit
	w.Jobs = append(w.Jobs, j)
}

// estimate is how long the job is said to run. An estimate of nothing would be no limit
// to the engine, so that it is a second.
func estimate(j *swf.Job, run int64, perfect bool) int64 {
	if perfect || j.Estimate < 0 {
		return max(run, 1)
	}
	return max(j.Estimate, 1)
}

// check lists the jobs that are larger than the machine. They would never start, and
// without backfill nothing after them either.
func (w *Workload) check() error {
	if w.Procs < 1 || w.Procs > MaxProcs {
		return fmt.Errorf("a machine of %d processors: want 1 to %d", w.Procs, int64(MaxProcs))
	}
	var problems []error
	more := 0
	for i := range w.Jobs {
		j := &w.Jobs[i]
		switch {
		case j.Procs <= w.Procs:
		case len(problems) == maxListed:
			more++
		default:
			problems = append(problems, fmt.Errorf("job %d: %w: it needs %d processors, there are %d", j.Number, ErrTooLarge, j.Procs, w.Procs))
		}
	}
	if more > 0 {
		problems = append(problems, fmt.Errorf("and %d more", more))
	}
	return errors.Join(problems...)
}
