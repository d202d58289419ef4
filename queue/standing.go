package queue

import (
	"cmp"

	"github.com/berth-project/berth/model"
)

// Standing is where an active workload stands in the order by queues.
type Standing struct {
	// Before is how many active workloads would have their turn before it if nothing else
	// changed: those before it in its own leaf, and those in parts of the order that come before
	// its own. In parts that are held there are none.
	Before int
	// Path are the parts that it is in, from the top queue down.
	Path []Level
	// Held is what holds it back, or the one before it in a part that it is in too; nil
	// where nothing does.
	Held *Held
}

// standing looks the item up. It takes time in proportion to the workloads that wait
// beside it.
func (t *tree) standing(it *Item) *Standing {
	s := &Standing{Before: t.ahead(it), Held: t.heldAbove(it.at)}
	for p := it.at; p != nil && p.parent != nil; p = p.parent {
		if p.leaf == nil && !p.joint || p.leaf != nil && p.leaf.key.principal != "" {
			s.Path = append(s.Path, t.level(p, t.tick))
		}
	}
	for i, j := 0, len(s.Path)-1; i < j; i, j = i+1, j-1 {
		s.Path[i], s.Path[j] = s.Path[j], s.Path[i]
	}
	return s
}

// ahead counts the active workloads that would have their turn before the item, which may be
// active itself. In a leaf that is not there yet nothing is.
func (t *tree) ahead(it *Item) (n int) {
	leaf := t.leaves[keyOf(it.Workload)]
	if leaf == nil {
		return 0
	}
	for _, other := range leaf.leaf.items.items {
		if other != it && t.before(other, it) {
			n += other.counted
		}
	}
	for p := leaf; p.parent != nil; p = p.parent {
		for _, kid := range p.parent.kids {
			if kid != p && kid.index >= 0 {
				n += kid.before(p.parent.policy(), it, p)
			}
		}
	}
	return n
}

// heldAbove says what holds the lowest part that is held of those from the leaf up, nil for none.
func (t *tree) heldAbove(leaf *part) *Held {
	h := holdAbove(leaf)
	if h == nil {
		return nil
	}
	return t.describe(h, false)
}

// holdAbove is the hold that heldAbove describes.
func holdAbove(leaf *part) *hold {
	for p := leaf; p != nil && p.parent != nil; p = p.parent {
		if p.held != nil && !p.held.pinned {
			return p.held
		}
	}
	return nil
}

// before counts the workloads in the part that come before the item, which is in the
// other part beside it.
func (p *part) before(policy model.OrderPolicy, it *Item, other *part) (n int) {
	if policy != model.OrderFIFO && p.priority != other.priority {
		if p.priority > other.priority {
			return p.offered()
		}
		return 0
	}
	if policy == model.OrderShare || policy == model.OrderUsage {
		c := compareTurn(policy, p, other)
		if c < 0 || c == 0 && compareSubmission(p.head, cmp.Or(other.head, it)) < 0 {
			return p.offered()
		}
		return 0
	}
	p.each(func(o *Item) {
		earlier := compareSubmission(o, it) < 0
		if policy == model.OrderPriority && o.Priority != it.Priority {
			earlier = o.Priority > it.Priority
		}
		if earlier {
			n += o.counted
		}
	})
	return n
}

// offered counts the workloads in the part that are not in a part of it that is held.
func (p *part) offered() (n int) {
	if p.leaf != nil {
		return p.waiting
	}
	for _, kid := range p.turns.parts {
		n += kid.offered()
	}
	return n
}

// each calls f for the items in the part that are not in a part of it that is held.
func (p *part) each(f func(*Item)) {
	if p.leaf != nil {
		for _, it := range p.leaf.items.items {
			f(it)
		}
	}
	for _, kid := range p.turns.parts {
		kid.each(f)
	}
}

// describe says what a hold is.
func (t *tree) describe(h *hold, never bool) *Held {
	d := &Held{Workload: h.item.ID(), Quota: h.quota, Missing: h.missing, Never: never}
	l := t.level(h.part, t.tick)
	d.Queue, d.Principal = l.Queue, l.Principal
	if h.resource >= 0 {
		d.Resource = t.names[h.resource]
	}
	if h.limit != nil {
		d.Limit, d.Resource = h.limit.Name, h.limit.Resource
		d.Seconds = h.limit.Measure == model.LimitResourceSeconds
		d.Endless = d.Seconds && h.limit.Breach != model.LimitStop && endless(h.item, d.Resource)
	}
	if h.quota == QuotaLend && h.part.parent != nil {
		most := int64(-1)
		for _, kid := range h.part.parent.kids {
			if n := t.unlent(kid, h.resource, never); kid != h.part && n > most {
				d.Lender, most = kid.name, n
			}
		}
	}
	return d
}

// endless reports whether something of the item uses the resource for as long as it likes.
func endless(it *Item, resource string) (is bool) {
	it.each(func(w *model.Workload) { is = is || w.Limit == 0 && requested(w, resource) > 0 })
	return is
}
