package queue

import (
	"math"
)

// check looks for what keeps the item of the leaf from being placed now, or, with empty, even if
// nothing were placed; nil for nothing.
func (t *tree) check(leaf *part, it *Item, empty bool) *hold {
	t.needAll(it)
	h := t.checkLimits(leaf, it, t.need, empty)
	if h == nil {
		h = t.checkQuotas(leaf, empty)
	}
	if h == nil {
		h = t.checkLending(leaf, empty)
	}
	if h != nil {
		h.item = it
	}
	return h
}

// needAll makes the needs those of all of the item.
func (t *tree) needAll(it *Item) {
	t.need = t.need[:0]
	if it.Group == nil {
		t.need = t.needs(t.need, it.Workload)
	}
	for _, m := range it.Members {
		t.need = t.needs(t.need, m.Workload)
	}
}

// checkQuotas looks for a queue that may not use so much, from the leaf up.
func (t *tree) checkQuotas(leaf *part, empty bool) *hold {
	for p := leaf.parent; p != nil; p = p.parent {
		if p.queue == nil {
			continue
		}
		for _, a := range t.need {
			if free, quota := t.free(p, a.resource, empty); a.n > free {
				return &hold{part: p, list: &p.waiters, quota: quota, resource: a.resource, missing: a.n - max(free, 0)}
			}
		}
	}
	return nil
}

// free is how much more the queue may use of the resource by its own quotas, and which of
// them says so.
func (t *tree) free(p *part, r int, empty bool) (int64, Quota) {
	free, quota := int64(math.MaxInt64), QuotaMax
	var used int64
	if !empty {
		used = p.usedOf(r)
	}
	if most, said := p.queue.Max[t.names[r]]; said {
		free = most - used
	}
	if borrow, said := p.queue.Borrow[t.names[r]]; said {
		if n := saturated(p.queue.Guaranteed[t.names[r]], borrow) - used; n < free {
			free, quota = n, QuotaBorrow
		}
	}
	return free, quota
}

// checkLending looks, from the top down, for a queue that would have to use what its
// siblings are guaranteed and do not lend. What a queue is guaranteed and does not lend
// itself is its own, first come first served where guarantees are more than there is.
func (t *tree) checkLending(leaf *part, empty bool) *hold {
	if !t.lending {
		return nil
	}
	for _, a := range t.need {
		if h := t.lend(leaf, a, empty); h != nil {
			return h
		}
	}
	return nil
}

func (t *tree) lend(leaf *part, a amount, empty bool) *hold {
	var path [maxDepth]*part
	depth := 0
	p := leaf
	for ; p.parent != nil; p = p.parent {
		if depth == len(path) {
			return nil
		}
		path[depth] = p
		depth++
	}
	var available int64
	if a.resource < len(t.capacity) {
		available = t.capacity[a.resource].amount()
	}
	if !empty {
		available -= p.usedOf(a.resource)
	}
	for ; depth > 0; depth-- {
		parent := p
		p = path[depth-1]
		own := t.unlent(p, a.resource, empty)
		others := t.keptIn(parent, a.resource, empty) - own
		if others > 0 {
			available = max(min(own, available), available-others)
			if a.n > available {
				return &hold{part: p, list: &t.lenders, quota: QuotaLend, resource: a.resource, missing: a.n - max(available, 0)}
			}
		}
		if p.queue != nil {
			free, _ := t.free(p, a.resource, empty)
			available = min(available, free)
		}
	}
	return nil
}

// maxDepth is how deep a tree is in which it is asked what is lent; what is below is not
// kept from using it.
const maxDepth = 64

// unlent is what the queue is guaranteed of the resource, does not lend, and does not use.
func (t *tree) unlent(p *part, r int, empty bool) int64 {
	if p.queue == nil {
		return 0
	}
	lend, said := p.queue.Lend[t.names[r]]
	if !said {
		return 0
	}
	kept := p.queue.Guaranteed[t.names[r]] - lend
	if !empty {
		kept -= p.usedOf(r)
	}
	return max(kept, 0)
}

// keptIn is what the parts of the part keep for themselves.
func (t *tree) keptIn(p *part, r int, empty bool) (kept int64) {
	if !empty {
		if r < len(p.kept) {
			return p.kept[r]
		}
		return 0
	}
	for _, kid := range p.kids {
		kept = saturated(kept, t.unlent(kid, r, true))
	}
	return kept
}

// keep counts what the queue keeps for itself with its parent.
func (t *tree) keep(p *part) {
	for name := range p.queue.Lend {
		if p.queue.Guaranteed[name] <= p.queue.Lend[name] || p.parent == nil {
			continue
		}
		t.lending = true
		r := t.numberOf(name)
		p.parent.kept = grown(p.parent.kept, r)
		p.parent.kept[r] = saturated(p.parent.kept[r], t.unlent(p, r, false))
	}
}

// keptBy is what the queue keeps for itself of each resource that is needed, before
// these are charged; nil where that is nothing.
func (t *tree) keptBy(p *part) []int64 {
	if p.queue == nil || p.parent == nil || len(p.queue.Lend) == 0 {
		return nil
	}
	before := make([]int64, len(t.need))
	for i, a := range t.need {
		before[i] = t.unlent(p, a.resource, false)
	}
	return before
}

// rekeep counts the difference to before, and reports whether the queue keeps nothing any more of a
// resource of which it kept some.
func (t *tree) rekeep(p *part, before []int64) (spent bool) {
	for i, a := range t.need {
		if after := t.unlent(p, a.resource, false); after != before[i] {
			p.parent.kept = grown(p.parent.kept, a.resource)
			p.parent.kept[a.resource] += after - before[i]
			spent = spent || after == 0
		}
	}
	return spent
}
