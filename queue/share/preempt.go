package share

import (
	"slices"
	"strings"
)

// FairRules are the tests by which a victim in another queue is chosen. The shares that
// they compare are those of the children, on both sides, of the lowest cohort that has
// both queues below it, the preemptor counted as if it ran.
type FairRules int

// The choices of FairRules.
const (
	// BothRules tries FinalShare, and if that does not make enough room InitialShare
	// too, for one victim in each queue.
	BothRules FairRules = iota
	// FinalShare: the preemptor's share is at most what the victim's becomes without
	// the victim. If they are equal, the victim's share must have become less by it.
	FinalShare
	// InitialShare: the preemptor's share is below the victim's.
	InitialShare
)

// Reason is why a victim was chosen.
type Reason int

// The values of Reason.
const (
	InQueue   Reason = iota // by priority in its own queue
	Reclaimed               // its queue borrows what the preemptor's queue has of its own
	FairShare               // its queue has more than its fair share
)

// Victim is a workload that is to be preempted.
type Victim struct {
	Index  int    // in the list of those that run
	Reason Reason // the rule by which it may be preempted
}

// Victims chooses who is preempted for a workload, and reports whether it fits then; it
// names nobody if it fits without, or does not fit at all. The tree, which has to count all
// that run, is not changed.
//
// In turn, the queue or cohort with the highest share among siblings gives a victim, from
// the top of the tree down: the first of its candidates that passes the test of
// Fairness. Of equal shares a cohort comes before a queue, cohorts by name, and queues in the
// order of their first candidates. Only queues that borrow lose anything to others. In its own queue
// the preemptor takes without a test, and so it does elsewhere as long as its own queue
// does not borrow what it asks for.
//
// When there is room, those that are not needed are given back, the last first. A victim
// stays one if by its return a later one would fail the test by which it was chosen: so
// every answer passes its tests as a whole, which fair preemption elsewhere does not
// ensure.
//
// In a cohort of queues no exchange of one workload for one of another queue can be reversed. By
// FinalShare the preemptor's queue has then no more than the victim's, and less if the victim's
// share was not lowered; by InitialShare it has less than the victim's had. So with the victim back
// its queue would have as much as the preemptor's at least, and fail both tests. And a workload
// that was reclaimed cannot take what the preemptor's queue does not borrow.
//
// With one resource, moreover, every decision with a victim in another queue lowers the shares of
// the queues, sorted from the highest down: the victims' queues had the highest of those that
// change, and all that change are below that now. So there is no circle of such decisions.
// Decisions about several resources, and workloads that start in room that is free, can raise the
// shares in that order, and a circle through these is possible.
func (q *Quota) Victims(p Preemptor, running []Running) ([]Victim, bool, error) {
	if err := q.checkPreemption(p, running); err != nil {
		return nil, false, err
	}
	if q.fits(p.Queue, p.Amounts) {
		return nil, true, nil
	}
	s := &search{
		q: q.Fork(), p: p, running: running, tests: make([]FairRules, len(running)),
		waiting: make([][]int, len(q.nodes)), pruned: make([]bool, len(q.nodes)),
	}
	candidates := q.candidates(p, running)
	s.q.add(p.Queue, p.Amounts)
	if !s.choose(candidates) {
		return nil, false, nil
	}
	s.giveBack()
	return s.victims, true, nil
}

// search is one choice of victims, on a fork on which the preemptor is counted.
type search struct {
	q       *Quota
	p       Preemptor
	running []Running
	victims []Victim    // in the order of choice
	tests   []FairRules // by index in running: the test that a victim has passed
	waiting [][]int     // by queue: candidates, the next first
	pruned  []bool      // by node: there is nothing more to take
}

// choose takes victims until the preemptor fits, and reports whether it does.
func (s *search) choose(candidates []int) bool {
	rule := s.p.Fairness
	if rule == BothRules {
		rule = FinalShare
	}
	refused, fits := s.pass(candidates, rule)
	if fits || s.p.Fairness != BothRules || len(refused) == 0 {
		return fits
	}
	return s.second(refused)
}

// start gives each queue its candidates.
func (s *search) start(candidates []int) {
	for n := range s.waiting {
		s.waiting[n], s.pruned[n] = nil, false
	}
	for _, i := range candidates {
		s.waiting[s.running[i].Queue] = append(s.waiting[s.running[i].Queue], i)
	}
}

func (s *search) pop(queue int) int {
	i := s.waiting[queue][0]
	s.waiting[queue] = s.waiting[queue][1:]
	return i
}

// pass takes one victim at a time from the queue that is next, by the rule. It returns the
// candidates that failed the test, if the preemptor does not fit in the end.
func (s *search) pass(candidates []int, rule FairRules) (refused []int, fits bool) {
	s.start(candidates)
	root := s.q.root(s.p.Queue)
	for queue := s.next(root); queue >= 0; queue = s.next(root) {
		for len(s.waiting[queue]) > 0 {
			i := s.pop(queue)
			reason, passes := s.test(i, rule)
			if !passes {
				refused = append(refused, i)
				continue
			}
			if s.take(i, reason, rule); s.fits() {
				return nil, true
			}
			break // the shares have changed: another queue may be next
		}
	}
	return refused, false
}

// second takes at most one victim of each queue, by InitialShare.
func (s *search) second(candidates []int) bool {
	s.start(candidates)
	root := s.q.root(s.p.Queue)
	for queue := s.next(root); queue >= 0; queue = s.next(root) {
		i := s.pop(queue)
		s.waiting[queue] = nil
		if reason, passes := s.test(i, InitialShare); passes {
			if s.take(i, reason, InitialShare); s.fits() {
				return true
			}
		}
	}
	return false
}

// next returns the queue from which the next victim is taken, or -1.
func (s *search) next(root int) int {
	if len(s.q.children[root]) == 0 {
		if len(s.waiting[root]) == 0 {
			return -1
		}
		return root
	}
	for !s.pruned[root] {
		if queue := s.below(root); queue >= 0 {
			return queue
		}
	}
	return -1
}

// below returns the next queue below a cohort; -1 if it found a cohort to be exhausted.
func (s *search) below(cohort int) int {
	best := -1
	var highest Borrowed
	for _, n := range s.q.children[cohort] {
		if s.pruned[n] {
			continue
		}
		share := s.q.Share(n, nil)
		isQueue := len(s.q.children[n]) == 0
		if share.Zero() && !s.onPath(n) || isQueue && len(s.waiting[n]) == 0 {
			s.pruned[n] = true
			continue
		}
		if best < 0 {
			best, highest = n, share
			continue
		}
		if order := share.Compare(highest); order > 0 || order == 0 && s.before(n, best) {
			best, highest = n, share
		}
	}
	switch {
	case best < 0:
		s.pruned[cohort] = true
		return -1
	case len(s.q.children[best]) == 0:
		return best
	}
	return s.below(best)
}

// before decides between siblings with equal shares.
func (s *search) before(a, b int) bool {
	queueA, queueB := len(s.q.children[a]) == 0, len(s.q.children[b]) == 0
	switch {
	case queueA != queueB:
		return queueB
	case !queueA:
		return strings.Compare(s.q.nodes[a].Name, s.q.nodes[b].Name) < 0
	}
	return compareCandidates(s.p.Queue, &s.running[s.waiting[a][0]], &s.running[s.waiting[b][0]]) < 0
}

// onPath reports whether the node is the preemptor's queue or above it.
func (s *search) onPath(n int) bool {
	for m := s.p.Queue; m != Root; m = s.q.nodes[m].Parent {
		if m == n {
			return true
		}
	}
	return false
}

// test reports whether the workload may be taken as things are, and why.
func (s *search) test(i int, rule FairRules) (Reason, bool) {
	w := s.running[i]
	if w.Queue == s.p.Queue {
		return InQueue, true
	}
	if !s.borrows() {
		return Reclaimed, true
	}
	mine, theirs := s.q.diverge(s.p.Queue, w.Queue)
	share, before := s.q.Share(mine, nil), s.q.Share(theirs, nil)
	if rule == InitialShare {
		return FairShare, share.Compare(before) < 0
	}
	s.q.remove(w.Queue, w.Amounts)
	after := s.q.Share(theirs, nil)
	s.q.add(w.Queue, w.Amounts)
	order := share.Compare(after)
	return FairShare, order < 0 || order == 0 && after.Compare(before) < 0
}

// borrows reports whether the preemptor's queue, in which it is counted, borrows a part of
// what it asks for.
func (s *search) borrows() bool {
	for c, v := range s.p.Amounts {
		if v > 0 && s.q.usage[s.p.Queue][c] > s.q.subtree[s.p.Queue][c] {
			return true
		}
	}
	return false
}

func (s *search) take(i int, reason Reason, rule FairRules) {
	s.q.remove(s.running[i].Queue, s.running[i].Amounts)
	s.victims = append(s.victims, Victim{Index: i, Reason: reason})
	s.tests[i] = rule
}

// fits reports whether the preemptor, which is counted, has room.
func (s *search) fits() bool {
	s.q.remove(s.p.Queue, s.p.Amounts)
	fits := s.q.fits(s.p.Queue, s.p.Amounts)
	s.q.add(s.p.Queue, s.p.Amounts)
	return fits
}

// giveBack returns victims that are not needed, the last chosen first; the very last is
// needed.
func (s *search) giveBack() {
	for k := len(s.victims) - 2; k >= 0; k-- {
		v := s.victims[k]
		w := s.running[v.Index]
		s.q.add(w.Queue, w.Amounts)
		if s.fits() && s.stillPass(k) {
			s.victims = slices.Delete(s.victims, k, k+1)
			continue
		}
		s.q.remove(w.Queue, w.Amounts)
	}
}

// stillPass reports whether each victim but the one at the index passes its test again, in
// the order of choice, now that this one is given back. That can only raise the shares of the
// nodes above it. Unless the preemptor's side of a test is one of them, which takes a
// common node below the top, no test can fail.
func (s *search) stillPass(without int) bool {
	mine, theirs := s.q.diverge(s.p.Queue, s.running[s.victims[without].Index].Queue)
	if mine != theirs && s.q.depth[mine] == 1 {
		return true
	}
	others := slices.Delete(slices.Clone(s.victims), without, without+1)
	for _, v := range others {
		s.q.add(s.running[v.Index].Queue, s.running[v.Index].Amounts)
	}
	pass := true
	for _, v := range others {
		if pass {
			reason, passes := s.test(v.Index, s.tests[v.Index])
			pass = passes && reason == v.Reason
		}
		s.q.remove(s.running[v.Index].Queue, s.running[v.Index].Amounts)
	}
	return pass
}
