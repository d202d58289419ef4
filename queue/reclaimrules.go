package queue

import (
	"math/big"

	"github.com/berth-project/berth/model"
)

// shareRule is the test of shares that one who is displaced has passed. In both the shares
// are of what is used beyond what is guaranteed, over the weights, of the two parts next to
// each other; the one that makes room for itself counts as if it ran.
type shareRule uint8

const (
	// finalShare: the one's is at most what the other's is without what it loses; where
	// they are equal, the other's must be less by that.
	finalShare shareRule = iota
	// initialShare: the one's is less than the other's.
	initialShare
)

// grounds are why one may be displaced for another queue.
type grounds uint8

const (
	// none: it may not be.
	none grounds = iota
	// owed: the one's queue stays within what it is guaranteed.
	owed
	// fair: what the order of the parts says, by priorities or by shares.
	fair
)

func fairIf(ok bool) grounds {
	if ok {
		return fair
	}
	return none
}

// willing reports whether the policy of its queue lets it displace one of the priority in
// another queue.
func (s *side) willing(priority int32) bool {
	if s.queue == nil {
		return false
	}
	switch s.queue.queue.Reclaim {
	case model.ReclaimAny:
		return true
	case model.ReclaimLower:
		return priority < s.priority
	}
	return false
}

// may says on what grounds a, which is counted, may displace b, which is too, and is of
// another queue.
func (l *loads) may(a, b *side, rule shareRule) grounds {
	i, j, ok := parting(a, b)
	if !ok {
		return none
	}
	for _, p := range b.path[:j+1] {
		if !l.over(p, a, b) || l.shielded(p, a) {
			return none
		}
	}
	mine, theirs := a.path[i], b.path[j]
	if a.queue != mine.parent && l.within(a) {
		return owed
	}
	policy := model.OrderShare
	if mine.parent != nil {
		policy = mine.parent.policy()
	}
	switch {
	case policy == model.OrderFIFO:
		return none
	case mine.priority != theirs.priority:
		return fairIf(mine.priority > theirs.priority)
	case policy == model.OrderPriority:
		return fairIf(b.priority < a.priority)
	case policy == model.OrderUsage:
		return none // the order would give back to those whose history is shorter what others take
	}
	return fairIf(l.fairer(mine, theirs, b, rule))
}

// over reports whether the part has more than it is guaranteed of what a asks for and b
// would give back.
func (l *loads) over(p *part, a, b *side) (over bool) {
	for _, n := range b.need {
		if a.asks(n.resource) == 0 {
			continue
		}
		used, own := l.in(p, n.resource), p.entitledOf(n.resource)
		if own > 0 && used <= own {
			return false
		}
		over = over || used > own
	}
	return over
}

// within reports whether the queue of a, with a, uses no more than it is guaranteed of
// what a asks for and it is guaranteed any of.
func (l *loads) within(a *side) (within bool) {
	if a.queue == nil {
		return false
	}
	for _, n := range a.need {
		if own := a.queue.entitledOf(n.resource); own > 0 {
			if l.in(a.queue, n.resource) > own {
				return false
			}
			within = true
		}
	}
	return within
}

// fairer reports whether the shares pass the test.
func (l *loads) fairer(mine, theirs *part, b *side, rule shareRule) bool {
	share, before := l.beyond(mine), l.beyond(theirs)
	if rule == initialShare {
		return compareBeyond(share, mine.weight, before, theirs.weight) < 0
	}
	l.remove(b)
	after := l.beyond(theirs)
	l.add(b)
	c := compareBeyond(share, mine.weight, after, theirs.weight)
	return c < 0 || c == 0 && after.compare(before) < 0
}

// shielded reports whether the queue has no more than the part of its fair share that
// nobody may reclaim. Its fair share is what its weight is of those of its siblings that
// use anything, have something waiting, or are in a's way up; of the same part of what is
// above it. It is compared with the dominant share of all that it uses.
func (l *loads) shielded(p *part, a *side) bool {
	if p.queue == nil || p.queue.Protected == 0 {
		return false
	}
	used := l.dominant(p)
	if used.capacity == 0 {
		return false
	}
	most := big.NewRat(p.queue.Protected, model.PerMillion)
	for ; p.parent != nil; p = p.parent {
		most.Mul(most, l.due(p, a))
	}
	return big.NewRat(used.used, used.capacity).Cmp(most) <= 0
}

// due is the part of its parent that the part should have. Without a weight it is nothing
// beside those that have one, and the same for all where none has.
func (l *loads) due(p *part, a *side) *big.Rat {
	var weights, active int64
	for _, kid := range p.parent.kids {
		if kid == p || kid.waiting > 0 || a.has(kid) || l.dominant(kid).used > 0 {
			weights += kid.weight
			active++
		}
	}
	switch {
	case weights > 0:
		return big.NewRat(p.weight, weights)
	case active > 0:
		return big.NewRat(1, active)
	}
	return big.NewRat(1, 1)
}
