package simulation

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/berth-project/berth/engine"
)

// Prioritize runs the jobs in the order of the priority function and returns what
// happened to them, by job. Jobs come in the order of the workload, whose submissions must
// not go back in time.
//
// The first of the order is chosen and waits until it fits; the choice is not
// revisited. With backfill other jobs may start meanwhile, in the order of
// submission: those that fit and whose estimates end before the chosen one is
// expected to start, which is estimated once.
func Prioritize(ctx context.Context, w Workload, p Priority, backfill bool) ([]Outcome, error) {
	s := &prioritized{jobs: w.Jobs, outcomes: make([]Outcome, len(w.Jobs)), priority: p, backfill: backfill}
	if len(s.jobs) == 0 {
		return nil, nil
	}
	for i := range s.jobs[1:] {
		if s.jobs[i+1].Submit < s.jobs[i].Submit {
			return nil, fmt.Errorf("job %d comes after job %d and was submitted before it", s.jobs[i+1].Number, s.jobs[i].Number)
		}
	}
	s.now = s.jobs[0].Submit
	var err error
	if s.machine, err = newMachine(w.Procs, s.now, func(*engine.Config) error { return nil }); err != nil {
		return nil, err
	}
	for {
		chosen, ok, err := s.choose()
		if err != nil || !ok {
			return s.outcomes, err
		}
		if err := s.serve(ctx, chosen); err != nil {
			return nil, fmt.Errorf("job %d: %w", s.jobs[chosen].Number, err)
		}
	}
}

// prioritized is one run under way.
type prioritized struct {
	machine  *machine
	jobs     []Job
	outcomes []Outcome
	priority Priority
	backfill bool

	now     int64
	arrived int      // so many jobs have been submitted
	queue   []ranked // those of them that wait and are not chosen, by submission
	running []active // by end, then by start
	refused int64    // processors: so many did not fit since the last end; 0: nothing was refused
}

// active is a job that runs.
type active struct {
	job     int
	end     int64 // when it will really end
	planned int64 // when its estimate ends
}

// choose takes the first of the order out of the queue, and waits for a job where there
// is none. It is false when all have been served.
func (s *prioritized) choose() (int, bool, error) {
	for len(s.queue) == 0 {
		if s.arrived == len(s.jobs) {
			return 0, false, nil
		}
		if err := s.advance(); err != nil {
			return 0, false, err
		}
	}
	first := 0
	for i := range s.queue {
		if before(s.jobs, s.queue[i], s.queue[first]) {
			first = i
		}
	}
	chosen := s.queue[first].job
	s.queue = slices.Delete(s.queue, first, first+1)
	return chosen, true, nil
}

// serve waits until the job has started.
func (s *prioritized) serve(ctx context.Context, job int) error {
	fits, err := s.try(ctx, job)
	if err != nil || fits {
		return err
	}
	var shadow int64
	if s.backfill {
		if shadow, err = s.expected(job); err != nil {
			return err
		}
	}
	for {
		if s.backfill {
			if err := s.fill(ctx, shadow); err != nil {
				return err
			}
		}
		ends := len(s.running)
		if err := s.advance(); err != nil {
			return err
		}
		if len(s.running) == ends {
			continue // a job has come, which makes no room
		}
		if fits, err := s.pass(ctx, job); err != nil || fits {
			return err
		}
	}
}

// expected is the second at which the job would first fit if all that run ended as
// estimated: the engine schedules it on a branch from which they are removed.
func (s *prioritized) expected(job int) (int64, error) {
	planned := slices.Clone(s.running)
	slices.SortStableFunc(planned, func(a, b active) int { return cmp.Compare(a.planned, b.planned) })
	branch := s.machine.raw.Branch()
	for _, a := range planned {
		if err := branch.Apply(at(s.now), engine.Remove(id(a.job))); err != nil {
			return 0, err
		}
		d, err := branch.Schedule(at(s.now), id(job))
		if err != nil {
			return 0, err
		}
		if d.Placed() {
			return a.planned, nil
		}
	}
	return 0, fmt.Errorf("it does not fit on the empty machine")
}

// fill starts, in the order of submission, what fits and is said to end before the
// shadow. What is as large as a job that did not fit since the last end is not tried.
func (s *prioritized) fill(ctx context.Context, shadow int64) error {
	for _, r := range slices.Clone(s.queue) {
		j := &s.jobs[r.job]
		if s.now+j.Estimate >= shadow || s.refused > 0 && j.Procs >= s.refused {
			continue
		}
		fits, err := s.try(ctx, r.job)
		if err != nil {
			return err
		}
		if !fits {
			if err := s.machine.remove(s.now, r.job); err != nil {
				return err
			}
			continue
		}
		s.outcomes[r.job].Backfilled = true
		s.queue = slices.DeleteFunc(s.queue, func(q ranked) bool { return q.job == r.job })
	}
	return nil
}

// try submits the job and reports whether it has started; where it has not, it waits
// in the engine.
func (s *prioritized) try(ctx context.Context, job int) (bool, error) {
	if err := s.machine.submit(s.now, job, &s.jobs[job]); err != nil {
		return false, err
	}
	return s.pass(ctx, job)
}

// pass lets the engine decide, and reports whether it has started the job.
func (s *prioritized) pass(ctx context.Context, job int) (bool, error) {
	started, err := s.machine.pass(ctx, s.now)
	for _, i := range started {
		j := &s.jobs[i]
		s.outcomes[i].Wait = s.now - j.Submit
		a := active{i, s.now + j.Run, s.now + j.Estimate}
		after, _ := slices.BinarySearchFunc(s.running, a.end+1, func(a active, end int64) int { return cmp.Compare(a.end, end) })
		s.running = slices.Insert(s.running, after, a)
	}
	fits := slices.Contains(started, job)
	if !fits && (s.refused == 0 || s.jobs[job].Procs < s.refused) {
		s.refused = s.jobs[job].Procs
	}
	return fits, err
}

// advance goes to the next event, an arrival before an end of the same second, and makes
// it happen. There must be one.
func (s *prioritized) advance() error {
	if s.arrived < len(s.jobs) && (len(s.running) == 0 || s.jobs[s.arrived].Submit <= s.running[0].end) {
		s.now = max(s.now, s.jobs[s.arrived].Submit)
		s.queue = append(s.queue, ranked{s.arrived, s.priority.score(&s.jobs[s.arrived])})
		s.arrived++
		return nil
	}
	ended := s.running[0]
	s.running = slices.Delete(s.running, 0, 1)
	s.now, s.refused = max(s.now, ended.end), 0
	return s.machine.remove(s.now, ended.job)
}
