package queue

import (
	"maps"
	"slices"

	"github.com/berth-project/berth/model"
)

// leafOf is the leaf that the workload belongs to.
func (t *tree) leafOf(w *model.Workload) *part {
	key := keyOf(w)
	leaf := t.leaves[key]
	if leaf == nil {
		leaf = newPart(key.principal)
		leaf.leaf = &leafPart{key: key, items: heap{less: t.before}, charged: map[string]charged{}}
		t.leaves[key] = leaf
		if t.homes[t.homeOf(leaf)] != nil {
			t.stale = true // the two must share one place
		} else {
			t.attach(leaf)
		}
	}
	return leaf
}

// rebuild makes all anew that follows from the definitions and from what is in the
// leaves.
func (t *tree) rebuild() {
	t.stale, t.regate, t.lending = false, true, false
	clear(t.limitsOf)
	for _, name := range slices.Sorted(maps.Keys(t.limits)) {
		l := t.limits[name]
		of := limited{l.Queue, l.Principal}
		t.limitsOf[of] = append(t.limitsOf[of], l)
	}
	t.counts = map[gaugeKey]int{}
	t.remember()
	t.renumber()
	t.metered = nil
	t.top, t.parts, t.homes, t.gauges, t.lenders = newPart(""), map[string]*part{}, map[home]*part{}, map[gaugeKey]*gauge{}, waitList{}
	names := slices.Sorted(maps.Keys(t.queues))
	for _, name := range names {
		p := newPart(name)
		p.queue, p.weight, p.priority = t.queues[name], t.queues[name].Weight, t.queues[name].Priority
		p.book = t.books[name]
		t.parts[name] = p
	}
	for _, name := range names {
		if p := t.parts[name]; p.queue.Parent == "" {
			p.under(t.top)
		} else if parent := t.parts[p.queue.Parent]; parent != nil {
			p.under(parent)
		}
	}
	for _, name := range names {
		if p := t.parts[name]; p.parent == t.top || p.parent == nil {
			t.entitle(p)
		}
	}
	leaves := t.sortedLeaves()
	for _, leaf := range leaves {
		if leaf.leaf.items.len() == 0 && leaf.leaf.running == 0 {
			delete(t.leaves, leaf.leaf.key)
			continue
		}
		leaf.parent, leaf.index, leaf.held, leaf.waiters = nil, -1, nil, waitList{}
		leaf.entries, leaf.bill = nil, 0
		leaf.leaf.gauges, leaf.leaf.each = nil, nil
		t.attach(leaf)
	}
	for _, name := range names {
		t.keep(t.parts[name])
	}
	for key, n := range t.known { // sums, in whatever order
		t.recount(key, n)
	}
	t.reckon()
	t.measureAll()
	for _, leaf := range leaves {
		if t.leaves[leaf.leaf.key] == leaf {
			leaf.offer()
		}
	}
}

// attach puts the leaf, with what is in it and charged to it, in its place.
func (t *tree) attach(leaf *part) {
	at := t.homeOf(leaf)
	leaf.leaf.missing = t.missing(leaf.leaf.key)
	if p := t.principals[at.principal]; p != nil {
		leaf.weight = p.Shares
	}
	if at.parent != nil {
		at.parent = t.joint(at, leaf)
		leaf.under(at.parent)
	}
	t.measure(leaf)
	for p := leaf.parent; p != nil; p = p.parent {
		p.waiting += leaf.waiting
	}
	for p := t.takesOf(leaf); p != nil; p = t.takesOf(p) {
		for r, n := range leaf.used {
			p.sum(r).plus(n)
		}
	}
	for p := leaf; p != nil; p = p.parent {
		if p.queue == nil {
			t.recall(p)
		}
		t.weigh(p)
	}
	if leaf.leaf.missing != nil {
		// Its parent may be there, and not what is above that or its principal.
		leaf.detach()
	}
}

// joint is the parent of the leaf: the queue, or, where the principal has another leaf in
// it already, because some of its workloads name the queue and some do not, the part
// that the two share.
func (t *tree) joint(at home, leaf *part) *part {
	other := t.homes[at]
	switch {
	case other == nil:
		t.homes[at] = leaf
		return at.parent
	case other.leaf == nil:
		return other
	}
	both := newPart(at.principal)
	both.joint = true
	both.weight, both.waiting = leaf.weight, other.waiting
	both.used = slices.Clone(other.used)
	at.parent.kids = slices.DeleteFunc(at.parent.kids, func(p *part) bool { return p == other })
	both.under(at.parent)
	other.under(both)
	t.homes[at] = both
	return both
}

// takesOf is the part of which the part takes what it uses: the one above it, or where a queue above it is
// not there, all that there is.
func (t *tree) takesOf(p *part) *part {
	if p.parent == nil && p != t.top {
		return t.top
	}
	return p.parent
}
