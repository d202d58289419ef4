package simulation

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
)

// Plan submits the jobs to an engine that plans ahead, each at its time, and returns what
// it made of them, by job.
//
// The engine decides after every submission and after every end. In one second
// submissions come before ends, and among themselves in the order of the jobs' numbers. A
// job that ends as planned has no processors any more when the second of its end
// begins, so that a submission of that second can have them.
func Plan(ctx context.Context, w Workload, b Backfill) ([]Outcome, error) {
	p := &plan{jobs: w.Jobs, outcomes: make([]Outcome, len(w.Jobs)), state: make([]state, len(w.Jobs))}
	for _, job := range byNumber(w.Jobs) {
		p.put(w.Jobs[job].Submit, submission, job)
	}
	if len(p.events.list) == 0 {
		return nil, nil
	}
	var err error
	if p.machine, err = newMachine(w.Procs, p.events.list[0].at, b.configure); err != nil {
		return nil, err
	}
	for len(p.events.list) > 0 {
		if err := p.step(ctx, heap.Pop(&p.events).(event)); err != nil {
			return nil, err
		}
	}
	return p.outcomes, nil
}

// byNumber lists the jobs by their number. Logs number jobs as they come, and are not
// always written in that order.
func byNumber(jobs []Job) []int {
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(jobs[a].Number, jobs[b].Number) })
	return order
}

// state is how far a job has come.
type state uint8

const (
	waiting state = iota
	running
	ended // its processors are free
)

// plan is one run under way.
type plan struct {
	machine  *machine
	jobs     []Job
	outcomes []Outcome
	state    []state
	events   events
	made     int   // events so far
	queue    []int // what has been submitted, in that order; jobs before the first that waits are dropped
	running  []int // jobs that have their processors
	released int64 // the second at which planned ends were last looked at
}

// step does what the event says and lets the engine decide.
func (p *plan) step(ctx context.Context, e event) error {
	if err := p.release(e.at); err != nil {
		return err
	}
	switch e.kind {
	case submission:
		p.queue = append(p.queue, e.job)
		if err := p.machine.submit(e.at, e.job, &p.jobs[e.job]); err != nil {
			return err
		}
	case end:
		if err := p.end(e.at, e.job); err != nil {
			return err
		}
	}
	started, err := p.machine.pass(ctx, e.at)
	for _, job := range started {
		p.start(e.at, job)
	}
	return err
}

// release ends what was planned to end now and does so, before the first event of the
// second.
func (p *plan) release(now int64) error {
	if now == p.released {
		return nil
	}
	p.released = now
	for _, job := range slices.Clone(p.running) {
		j := &p.jobs[job]
		if j.Run == j.Estimate && j.Submit+p.outcomes[job].Wait+j.Run == now {
			if err := p.end(now, job); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *plan) start(now int64, job int) {
	for p.state[p.queue[0]] != waiting {
		p.queue = p.queue[1:]
	}
	p.outcomes[job] = Outcome{Wait: now - p.jobs[job].Submit, Backfilled: p.queue[0] != job}
	p.state[job] = running
	p.running = append(p.running, job)
	p.put(now+p.jobs[job].Run, end, job)
}

func (p *plan) end(now int64, job int) error {
	if p.state[job] == ended {
		return nil
	}
	p.state[job] = ended
	p.running = slices.DeleteFunc(p.running, func(r int) bool { return r == job })
	return p.machine.remove(now, job)
}

func (p *plan) put(at int64, k kind, job int) {
	p.made++
	heap.Push(&p.events, event{at, k, p.made, job})
}

// kind is what happens; in one second the smaller kind comes first.
type kind uint8

const (
	submission kind = iota
	end
)

// event is something that happens to a job.
type event struct {
	at   int64
	kind kind
	made int
	job  int
}

// events is a heap: the earliest first, then by kind, then in the order in which they
// were made.
type events struct{ list []event }

// The methods of heap.Interface.

func (e *events) Len() int { return len(e.list) }

func (e *events) Less(i, j int) bool {
	a, b := &e.list[i], &e.list[j]
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind), cmp.Compare(a.made, b.made)) < 0
}

func (e *events) Swap(i, j int) { e.list[i], e.list[j] = e.list[j], e.list[i] }

func (e *events) Push(x any) { e.list = append(e.list, x.(event)) }

func (e *events) Pop() any {
	last := len(e.list) - 1
	x := e.list[last]
	e.list = e.list[:last]
	return x
}
