package queue

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/berth-project/berth/model"
)

// Held says what holds workloads back in the order by queues.
type Held struct {
	// Absent says what is not there that the workload needs; the other fields are empty
	// then.
	Absent string
	// Queue and Principal are the part of the order that is held: the queue, or what the
	// principal has in it. Nothing in it has its turn meanwhile.
	Queue     string
	Principal string // see Queue
	// Workload is the one that is next in the part and is too much, or its highest group.
	Workload string
	// Limit is the name of the limit that it would break; empty for a quota of the queue.
	Limit string
	Quota Quota // empty for a limit
	// Resource is the name of what it asks too much of, empty for a number of workloads.
	Resource string
	Missing  int64 // how much too much, in the unit of the resource
	Seconds  bool  // it is a limit on resource-seconds, and Missing is times seconds
	// Endless: it is a limit on resource-seconds, and something that asks for the resource has no
	// time limit, so that no amount would be enough. Missing means nothing then.
	Endless bool
	// Lender is, for QuotaLend, the queue that keeps most for itself.
	Lender string
	// Never: it is too much even where nothing else is placed.
	Never bool
}

// String says it in one line.
func (h *Held) String() string {
	if h.Absent != "" {
		return h.Absent
	}
	var b strings.Builder
	switch {
	case h.Limit != "":
		fmt.Fprintf(&b, "limit %q", h.Limit)
	case h.Quota == QuotaLend:
		fmt.Fprintf(&b, "queue %q: what is left is guaranteed to queue %q", h.Queue, h.Lender)
	default:
		fmt.Fprintf(&b, "queue %q: %s", h.Queue, h.Quota)
	}
	switch {
	case h.Endless:
		fmt.Fprintf(&b, ": %q has no time limit, so that its %s-seconds have no end", h.Workload, h.Resource)
	case h.Resource == "":
		fmt.Fprintf(&b, ": %q is %d too many", h.Workload, h.Missing)
	case h.Seconds:
		fmt.Fprintf(&b, ": %q asks for %d%s %s-seconds too much", h.Workload, h.Missing, h.unit(), h.Resource)
	default:
		fmt.Fprintf(&b, ": %q asks for %d%s %s too much", h.Workload, h.Missing, h.unit(), h.Resource)
	}
	if h.Never {
		b.WriteString(", whatever else runs")
	} else {
		b.WriteString(" now")
	}
	return b.String()
}

// unit is what the number stands for: CPU is counted in thousandths.
func (h *Held) unit() string {
	if h.Resource == model.CPU {
		return "m"
	}
	return ""
}

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
