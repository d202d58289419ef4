package scheduler

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler/backfill"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

const (
	// reserveEvery is the time between two looks at what room is kept for, and
	// reserveShare how many times longer it is than a look takes, at least: so the
	// looks take no more than two percent of one processor.
	reserveEvery = time.Second
	reserveShare = 50
	// maxPlanned is for how many jobs it is found out when they would fit, until there
	// is one that will. (Slurm: bf_max_job_test.)
	maxPlanned = 50
	// patience is how long room is kept for what should fit by now and is not placed:
	// something else than room keeps it. Then it is passed over for a while.
	patience = 2 * time.Minute
	passOver = 10 * time.Minute
	// wakeFew is how many that were kept off are tried again at once, at first;
	// wakePause is how long the next wait if not one of them was placed.
	wakeFew   = 100
	wakeAll   = 1 << 30
	wakePause = 10 * time.Second
)

// reserver decides for which attempt room is kept, when, and where: the first, in the
// order in which they are tried, that was tried and not placed and will fit once tasks
// with limits have ended. It has a goroutine of its own, for it only reads what others
// write; what it knows besides is no loss to the next leader.
type reserver struct {
	state   *state.State
	eng     *engine.Engine
	blocked *blocked
	keeper  *keeper

	current *reservation         // nil: none
	ready   time.Time            // since when it should fit, zero: it should not yet
	passed  map[job.ID]time.Time // until when; all of the job, whose elements want the same
	seen    seen
	wakes   wakes
	waited  time.Duration // for the engine, in the turn under way: that is no work
}

// seen is what a look was about, to see whether another is worth it.
type seen struct {
	index, version uint64
	again          bool // it is, whatever has changed
}

// wakes are those who are to be tried again because other room is kept by now.
type wakes struct {
	since time.Time // who was last tried until then; zero: nobody is to be woken
	next  time.Time
	few   int
	last  []job.TaskID
}

// run looks again and again until ctx ends.
func (r *reserver) run(ctx context.Context) {
	timer := time.NewTimer(reserveEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		timer.Reset(r.turn())
	}
}

// turn looks once, and has those tried again whom that may help. It returns how long
// the next look is to wait.
func (r *reserver) turn() time.Duration {
	began := time.Now()
	r.waited = 0
	first := r.keeper.head.Load() != nil
	r.look()
	if first {
		r.begin()
	}
	r.wake(began)
	return max(reserveEvery, reserveShare*(time.Since(began)-r.waited))
}

// view is what the engine knows. It may be long in coming: it is taken between two
// decisions, of which one about a large gang, or about all at the beginning, takes its time.
func (r *reserver) view() *engine.View {
	began := time.Now()
	defer func() { r.waited += time.Since(began) }()
	return r.eng.View()
}

// begin lets others go ahead of the first, and has those tried again that could not.
func (r *reserver) begin() {
	r.keeper.begin()
	r.wakes = wakes{since: r.told(), few: wakeAll}
}

// told waits until the engine has told of the one that it tries, which may be turned
// down by what was kept until now. The time is after that.
func (r *reserver) told() time.Time {
	r.view()
	return time.Now()
}

// look brings the reservation up to what is known by now.
func (r *reserver) look() {
	version, now := r.blocked.version(), time.Now()
	v, facts := r.state.View(), r.view() // after now: what was tried by then is in both
	next := seen{index: facts.Index(), version: version}
	if next == r.seen && (r.current == nil || now.Before(r.current.plan.At)) {
		return
	}
	r.seen = next
	for id, until := range r.passed {
		if now.After(until) {
			delete(r.passed, id)
		}
	}
	r.seen.again = len(r.passed) > 0
	p := planner{v: v, facts: facts, now: now}
	if a, next := r.firstThatFits(&p); next != nil {
		r.reserve(&p, a, r.stay(&p, next))
		return
	}
	r.replace(nil)
	r.current = nil
}

// firstThatFits is the first attempt that will fit, with the reservation that it would
// have. Of a job only the first is looked at: the others want the same.
func (r *reserver) firstThatFits(p *planner) (*blockedAttempt, *reservation) {
	var promised job.TaskID
	if r.current != nil {
		promised = r.current.id
	}
	jobs := map[job.ID]bool{}
	for len(jobs) < maxPlanned {
		list := r.blocked.first(maxPlanned, promised, func(a *blockedAttempt) bool {
			return !jobs[a.id.Job] && r.passed[a.id.Job].IsZero()
		})
		if len(list) == 0 {
			break
		}
		for i := range list {
			a := &list[i]
			switch {
			case jobs[a.id.Job]:
			case !p.waits(a.id) && !a.tried.After(p.now):
				r.blocked.forget(a.id) // it was taken back while it was tried
			case !p.waits(a.id): // the state may be older than it
				jobs[a.id.Job], r.seen.again = true, true
			default:
				jobs[a.id.Job] = true
				if next := p.plan(a); next != nil {
					return a, next
				}
			}
		}
	}
	return nil, nil
}

// stay is the reservation that there is, if it still stands and the next is no earlier.
func (r *reserver) stay(p *planner, next *reservation) *reservation {
	if old := r.current; old != nil && old.id == next.id && !next.plan.At.Before(old.plan.At) && p.stands(old) {
		return old
	}
	return next
}

// reserve keeps room for an attempt, or gives it up with one that should fit and does
// not.
func (r *reserver) reserve(p *planner, a *blockedAttempt, next *reservation) {
	if r.current == nil || r.current.id != a.id || next.plan.At.After(p.now) {
		r.ready = time.Time{}
	}
	if next != r.current {
		next = r.handOver(next)
	}
	r.current = next
	switch {
	case next.plan.At.After(p.now):
	case r.ready.IsZero():
		r.ready = p.now
		r.keeper.handle.Activate(a.workload) // it need not wait for its backoff
	case p.now.Sub(r.ready) > patience:
		r.passed[a.id.Job] = p.now.Add(passOver)
		r.seen.again = true
	}
}

// handOver puts a new reservation in place of the old one. The engine goes on meanwhile,
// so both are in force until what was decided before the new one was is known. If that
// is in its way the old one stays, where it is for the same attempt.
func (r *reserver) handOver(next *reservation) *reservation {
	if old := r.current; old != nil {
		r.keeper.set(old, next)
		// A view is taken between two decisions: all later ones know of the new one.
		if p := (planner{facts: r.view(), now: time.Now()}); old.id == next.id && !p.stands(next) && p.stands(old) {
			r.keeper.set(old)
			r.seen.again = true
			return old
		}
	}
	r.replace(next)
	return next
}

// replace keeps room for the next alone, nil for none, and has those tried again that
// were kept off by what was before, where that may help them.
func (r *reserver) replace(next *reservation) {
	if next == nil {
		r.keeper.set()
	} else {
		r.keeper.set(next)
	}
	if r.current != nil && (next == nil || next.leavesMoreThan(r.current)) {
		if r.wakes.since.IsZero() {
			r.wakes = wakes{few: wakeFew}
		}
		r.wakes.since = r.told()
	}
}

// leavesMoreThan reports whether something is allowed that another reservation forbids.
func (r *reservation) leavesMoreThan(o *reservation) bool {
	if r.id != o.id || r.plan.At.After(o.plan.At) {
		return true
	}
	for node, tasks := range o.parts {
		if r.parts[node] < tasks {
			return true
		}
	}
	return false
}

// wake has some of those tried again who were kept off by a reservation that is another
// by now: few at first, in order, and more as long as some of them are placed.
func (r *reserver) wake(now time.Time) {
	w := &r.wakes
	if w.since.IsZero() {
		return
	}
	placed := slices.ContainsFunc(w.last, func(id job.TaskID) bool { return !r.blocked.has(id) })
	switch {
	case placed:
		w.few = min(2*w.few, 32*wakeFew)
	case now.Before(w.next):
		return
	case w.last != nil:
		w.few = wakeFew
	}
	list := r.blocked.first(w.few, job.TaskID{}, func(a *blockedAttempt) bool { return a.kept && !a.tried.After(w.since) })
	if len(list) == 0 {
		*w = wakes{}
		return
	}
	w.last, w.next = w.last[:0], now.Add(wakePause)
	var ids []string
	for i := range list {
		w.last = append(w.last, list[i].id)
		ids = append(ids, list[i].workload)
	}
	r.keeper.handle.Activate(ids...)
}

// planner finds out when attempts fit, as things are at one moment.
type planner struct {
	v     state.View
	facts *engine.View
	now   time.Time
	// nodes are those that take tasks, times their timelines, by name.
	nodes []*model.Node
	times map[string]*backfill.Timeline
	of    *model.Workload // the last that was planned for
	// running is memory for what runs on one of them.
	running []backfill.Running
}

// plan is the reservation that an attempt would have, nil for none.
func (p *planner) plan(a *blockedAttempt) *reservation {
	spec := p.v.Job(a.id.Job).Spec
	w, ok := p.facts.Workload(a.workload)
	if !ok || w.Phase != model.Pending || !onlyRoom(spec) {
		return nil
	}
	want := backfill.Want{
		Tasks: int64(spec.Tasks), Requests: w.Requests, Device: deviceOf(w.Workload), SameLabel: spec.SameLabel,
	}
	plan, ok := backfill.Earliest(&want, p.now, p.candidates(w.Workload))
	if !ok {
		return nil
	}
	return newReservation(a.id, w.Priority, want, plan)
}

// waits reports whether nothing but room keeps the attempt, as far as the state knows.
func (p *planner) waits(id job.TaskID) bool {
	j := p.v.Job(id.Job)
	if j == nil {
		return false
	}
	s, _ := p.v.StateOf(j, id.Element)
	whole, own := p.v.Waits(j, p.now), p.v.ElementWaits(j, id.Element, p.now)
	return s == job.Pending && nextTask(p.v, j, id.Element) == id && whole.None() && own.None()
}

// onlyRoom reports whether it is a matter of room alone where tasks of the job can go,
// and not of where others are.
func onlyRoom(s *job.Spec) bool {
	required := func(a job.Affinity) bool { return a.Weight == 0 }
	return !slices.ContainsFunc(s.Near, required) && !slices.ContainsFunc(s.Apart, required) &&
		!slices.ContainsFunc(s.Spread, func(s job.Spread) bool { return !s.Soft })
}

// candidates are the nodes that will do for a workload.
func (p *planner) candidates(w *model.Workload) []backfill.Candidate {
	p.load()
	p.of = w
	out := make([]backfill.Candidate, 0, len(p.nodes))
	for _, n := range p.nodes {
		if closes, ok := willDo(w, n); ok {
			out = append(out, backfill.Candidate{Timeline: p.times[n.Name], Closes: closes})
		}
	}
	return out
}

// willDo reports whether a node will do for a workload, and until when it may start
// there; zero: at any time.
func willDo(w *model.Workload, n *model.Node) (closes time.Time, ok bool) {
	if n.Unschedulable || w.NodeAffinity != nil && !w.NodeAffinity.Required.Matches(n) {
		return time.Time{}, false
	}
	text, ok := n.Labels[closesLabel]
	if !ok {
		return time.Time{}, true
	}
	at, err := strconv.ParseInt(text, 10, 64)
	limit, limited := secondsIn(w, limitLabel)
	return time.Unix(at, 0).Add(-limit), err == nil && limited
}

// load makes the timelines of all nodes that take tasks, once.
func (p *planner) load() {
	if p.times != nil {
		return
	}
	p.times = map[string]*backfill.Timeline{}
	for n := range p.facts.Nodes() {
		if !n.Unschedulable {
			p.nodes = append(p.nodes, n.Node)
			p.times[n.Name] = p.timeline(n.Node)
		}
	}
}

// timeline is that of one node.
func (p *planner) timeline(n *model.Node) *backfill.Timeline {
	running := p.running[:0]
	for w := range p.facts.WorkloadsOn(n.Name) {
		running = append(running, backfill.Running{
			Ends: endOf(w.Workload, w.PlacedAt, p.now), Requests: &w.Requests, Shares: w.Shares,
		})
	}
	p.running = running
	return backfill.NewTimeline(n, running)
}

// stands reports whether there will be all the room at its moment that is kept. It is
// for an attempt of which nothing is placed yet.
func (p *planner) stands(r *reservation) bool {
	for node, tasks := range r.parts {
		n, ok := p.facts.Node(node)
		if !ok || n.Unschedulable {
			return false
		}
		if p.of != nil {
			if closes, ok := willDo(p.of, n.Node); !ok || !closes.IsZero() && closes.Before(r.plan.At) {
				return false
			}
		}
		t := p.times[node]
		if t == nil {
			t = p.timeline(n.Node)
		}
		if t.Fits(&r.want, r.plan.At, tasks) < tasks {
			return false
		}
	}
	return true
}
