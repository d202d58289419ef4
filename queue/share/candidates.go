package share

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// VictimPolicy says which workloads may be preempted for another one.
type VictimPolicy int

// The choices of VictimPolicy.
const (
	NoVictims         VictimPolicy = iota // none
	LowerPriority                         // those with a lower priority
	LowerOrNewerEqual                     // also those with the same priority that are newer
	AnyPriority                           // all
)

// Preemptor is a workload that does not fit in the quota of its queue.
type Preemptor struct {
	Queue    int          // its node in the tree
	Amounts  []int64      // what it asks for, by cell
	Priority int64        // compared with Running.Priority; AnyPriority ignores it
	Created  int64        // when it was submitted, for LowerOrNewerEqual; in any unit
	Within   VictimPolicy // who may be preempted in its own queue
	Reclaim  VictimPolicy // who may be preempted in other queues of the tree that borrow
	Fairness FairRules    // the tests that victims in other queues must pass
}

// Running is a workload whose usage the quota tree counts.
type Running struct {
	Name     string  // unique; decides between candidates that are equal otherwise
	Queue    int     // its node in the tree
	Amounts  []int64 // what it uses, by cell, as it was added to the tree
	Priority int64   // after evicted ones, the lowest of a queue is preempted first
	Reserved int64   // since when its usage is counted; in the unit of Created
	Evicted  bool    // it is going away anyway
}

// candidates returns the indexes of those that may be preempted, in the order in which
// they are: evicted ones, then those of other queues, lower priority, newer, name.
func (q *Quota) candidates(p Preemptor, running []Running) []int {
	needed := make([]bool, len(q.resources))
	for c, v := range p.Amounts {
		needed[c] = v > q.Available(p.Queue, c)
	}
	root := q.root(p.Queue)
	var list []int
	for i, w := range running {
		allowed := p.Within
		if w.Queue != p.Queue {
			allowed = p.Reclaim
			if q.root(w.Queue) != root {
				continue
			}
		}
		if allowed.allow(p, w) && q.usesAny(w, needed, w.Queue != p.Queue) {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b int) int { return compareCandidates(p.Queue, &running[a], &running[b]) })
	return list
}

func compareCandidates(own int, a, b *Running) int {
	return cmp.Or(compareBool(b.Evicted, a.Evicted), compareBool(a.Queue == own, b.Queue == own),
		cmp.Compare(a.Priority, b.Priority), cmp.Compare(b.Reserved, a.Reserved), strings.Compare(a.Name, b.Name))
}

// compareBool has false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (v VictimPolicy) allow(p Preemptor, w Running) bool {
	switch v {
	case AnyPriority:
		return true
	case LowerOrNewerEqual:
		return w.Priority < p.Priority || w.Priority == p.Priority && w.Reserved > p.Created
	case LowerPriority:
		return w.Priority < p.Priority
	}
	return false
}

// usesAny reports whether the workload uses a cell that is needed, and that its queue borrows if
// borrowed is set.
func (q *Quota) usesAny(w Running, needed []bool, borrowed bool) bool {
	for c, v := range w.Amounts {
		if v > 0 && needed[c] && (!borrowed || q.usage[w.Queue][c] > q.subtree[w.Queue][c]) {
			return true
		}
	}
	return false
}

// checkPreemption returns all that is wrong with the workloads, of which those that run
// must be counted in the tree.
func (q *Quota) checkPreemption(p Preemptor, running []Running) error {
	wrong := []error{q.check(p.Queue, p.Amounts), q.checkQueue(p.Queue)}
	for c, v := range p.Amounts {
		if v > mostAmount/2 {
			wrong = append(wrong, fmt.Errorf("share: the preemptor asks for %d of cell %d: %w", v, c, ErrOverflow))
		}
	}
	left := q.Fork()
	for _, w := range running {
		if err := left.Remove(w.Queue, w.Amounts); err != nil {
			wrong = append(wrong, fmt.Errorf("workload %q is not counted: %w", w.Name, err))
		}
		wrong = append(wrong, q.checkQueue(w.Queue))
	}
	return errors.Join(wrong...)
}

// checkQueue returns an error for a cohort: workloads are in queues, at the ends of the tree.
func (q *Quota) checkQueue(n int) error {
	if n >= 0 && n < len(q.nodes) && len(q.children[n]) > 0 {
		return fmt.Errorf("share: %q has queues below it and no workloads of its own: %w", q.nodes[n].Name, ErrNode)
	}
	return nil
}
