package simulate

import (
	"context"
	"fmt"
	"slices"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// inputRun runs a task, or settles it without running it, and mostly gives it
// back at once.
func inputRun(s *sim) string {
	t := pickOf(s, slices.DeleteFunc(slices.Clone(s.tasks), func(t *simTask) bool { return t.ran || t == s.current || t.hangs.After(s.now) }))
	if t == nil || s.current != nil {
		return ""
	}
	how := s.work(t)
	if s.result.Failure != nil || s.chance(30) {
		return how
	}
	return how + s.giveBack(t)
}

// work has a task done.
func (s *sim) work(t *simTask) string {
	outer := s.current
	s.current = t
	defer func() { s.current, t.ran = outer, true }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	switch {
	case t.releases != "":
		s.workRelease(t.task)
		return "run " + t.String()
	case s.world.reach || s.chance(85):
		s.run(ctx, t.task)
		return "run " + t.String()
	case s.chance(40):
		cancel()
		s.run(ctx, t.task)
		return "run with no time left " + t.String()
	case s.chance(60) || t.evicts || t.abandoned || t.stopped || len(t.decided) > 0:
		if s.chance(50) {
			t.task.Settle(fmt.Errorf("%w: %w", extpoints.ErrNotWritten, errRefused))
			return "settle with a failure before anything was written " + t.String()
		}
		t.task.Settle(errRefused)
		t.owes = [2]bool{true, true}
		return "settle with a failure " + t.String()
	}
	e := s.world.book[t.id]
	b, _ := t.task.Binding()
	err := errNoSuchNode
	if s.world.nodes[b.Node] != nil && e != nil && !e.ended {
		err = s.world.run(e, b, t)
	}
	t.task.Settle(err)
	return "settle with an answer " + t.String()
}

// inputFinish gives back a task that was run.
func inputFinish(s *sim) string {
	t := pickOf(s, slices.DeleteFunc(slices.Clone(s.tasks), func(t *simTask) bool { return !t.ran || t.hangs.After(s.now) }))
	if t == nil {
		return ""
	}
	return "give back " + t.String() + s.giveBack(t)
}

// giveBack gives a task back to the engine and checks what happens to the
// reservation: it is kept if the workload is wanted there and was bound, or has
// been confirmed, and is given back exactly once otherwise.
func (s *sim) giveBack(t *simTask) string {
	s.tasks = slices.DeleteFunc(s.tasks, func(other *simTask) bool { return other == t })
	if !t.binds() {
		s.raw.Finish(s.now, t.task)
		return ", done"
	}
	row, _ := s.row(t.id)
	there := row.Node == t.node && (row.Phase == model.Confirmed || row.Phase == model.Terminating)
	kept := (t.bound || there) && !t.abandoned
	if kept {
		if e := s.world.book[t.id]; e != nil && e.node == t.node {
			e.known = true
		}
		// From here on no Unreserve of it is right.
		s.plugins.rounds.Commit(t.id, t.node)
	}
	before := s.plugins.rounds.Ended(t.id)
	s.raw.Finish(s.now, t.task)
	after := s.plugins.rounds.Ended(t.id)
	s.answerAgain(t)
	for _, o := range t.decided {
		if t.owes[0] && isOf(0, o) || t.owes[1] && isOf(1, o) {
			s.world.facts.untold[refTo(o)] = true
		}
	}
	if !kept && after != before+1 {
		s.fail("%v did not come about, and the reservation was given back %d times", t, after-before)
	}
	if kept {
		return ", bound"
	}
	return ", not bound"
}

// workRelease has devices taken back from a claim.
func (s *sim) workRelease(t *engine.Task) {
	if s.world.reach || s.chance(85) {
		s.run(context.Background(), t)
		return
	}
	t.Settle(errRefused)
}

// run runs a task; what is hostile may end its goroutine.
func (s *sim) run(ctx context.Context, t *engine.Task) {
	if s.hostility == nil {
		t.Run(ctx)
		return
	}
	beside(func() { t.Run(ctx) })
}

// answerAgain answers a second time, which changes nothing.
func (s *sim) answerAgain(t *simTask) {
	if s.hostility == nil || !s.chance(20) {
		return
	}
	before := s.raw.View().Index()
	s.run(context.Background(), t.task)
	t.task.Settle(errRefused)
	s.raw.Finish(s.now, t.task)
	if s.raw.View().Index() != before {
		s.fail("%v was answered twice, and the second answer changed something", t)
	}
}
