package queue

import (
	stdheap "container/heap"
	"strings"

	"github.com/berth-project/berth/model"
)

// part is a part of the order of queues: a queue, or the workloads of one principal in a
// queue. The latter is a leaf: it has items, the others have parts.
type part struct {
	name   string
	queue  *model.Queue // of a queue; nil for the top and for a leaf
	parent *part        // nil for the top, and for one whose parent is not there
	kids   []*part      // all parts below it

	leaf   *leafPart // nil for a queue
	joint  bool      // it joins the leaves of one principal
	turns  partHeap  // of a queue: those of its parts that have an item and are not held
	index  int       // in the turns of the parent; -1 where it is not there
	head   *Item     // the item that is next in it; nil where it has none to offer
	weight int64
	// priority is before all else where the policy of the parent has it.
	priority int32

	waiting int     // how many workloads wait in it
	used    []total // by resource: what the workloads in it that have a node request
	// kept, by resource, is how much its parts have been guaranteed, do not lend, and do not use.
	kept []int64
	// entitled, by resource, is what it is guaranteed, or its parts together where that is
	// more; nil where nothing is.
	entitled []int64
	dominant share
	resource int   // of dominant
	beyond   share // the dominant share of what it uses beyond entitled
	// below: it uses less than it is guaranteed, of every resource of which it is any.
	below bool
	// past is what it has used, if the queue above goes by that, and entries, by resource, and
	// bill are the numbers of its entries in the book of that queue, from 1.
	past    past
	entries []int
	bill    int
	book    *book // of a queue that goes by usage
	held    *hold
	waiters waitList // for what is charged to it to become less
}

// leafPart is what a part has that has items.
type leafPart struct {
	key    leafKey
	items  heap
	gauges []*gauge       // of the limits on its workloads
	each   []*model.Limit // on each of its workloads by itself
	// running is how many workloads are charged to it, and charged has them by ID; not where they
	// are charged for a look ahead.
	running int
	charged map[string]charged
	// missing says what is not there that its workloads need; nil for nothing.
	missing *Held
}

// leafKey is what workloads of one leaf have in common: the queue and the principal that
// they name.
type leafKey struct{ queue, principal string }

// compareKeys is an order of leaves that depends on nothing but their names.
func compareKeys(a, b *part) int {
	if c := strings.Compare(a.leaf.key.queue, b.leaf.key.queue); c != 0 {
		return c
	}
	return strings.Compare(a.leaf.key.principal, b.leaf.key.principal)
}

// newPart makes a part in which nothing is used.
func newPart(name string) *part {
	p := &part{name: name, index: -1, dominant: share{0, 1}, resource: -1, beyond: share{0, 1}}
	p.turns.of = p
	return p
}

// policy orders the parts of the part.
func (p *part) policy() model.OrderPolicy {
	if p.joint {
		return model.OrderPriority
	}
	if p.queue == nil || p.queue.Policy == "" {
		return model.OrderShare
	}
	return p.queue.Policy
}

// next is the item that is next in it, as its own parts say.
func (p *part) next() *Item {
	if p.leaf != nil {
		return p.leaf.items.first()
	}
	if len(p.turns.parts) == 0 {
		return nil
	}
	return p.turns.parts[0].head
}

// turnBefore is the order of the parts of a part, each of which has an item. It is total:
// in the end the items decide, no two of which are equal.
func turnBefore(policy model.OrderPolicy, a, b *part) bool {
	if policy != model.OrderFIFO && a.priority != b.priority {
		return a.priority > b.priority
	}
	switch policy {
	case model.OrderShare, model.OrderUsage:
		if c := compareTurn(policy, a, b); c != 0 {
			return c < 0
		}
	case model.OrderPriority:
		if a.head.Priority != b.head.Priority {
			return a.head.Priority > b.head.Priority
		}
	}
	return compareSubmission(a.head, b.head) < 0
}

// compareTurn says which of two parts has had less of what it is entitled to. It is the
// one place that knows what a share is. Those that use less than they are guaranteed come
// first. Then what is guaranteed does not count, and of equal ones it does. By usage it is
// what they have used that counts.
func compareTurn(policy model.OrderPolicy, a, b *part) int {
	switch {
	case a.below != b.below:
		if a.below {
			return -1
		}
		return 1
	case policy == model.OrderUsage:
		return a.past.compareWeighted(a.weight, b.past, b.weight)
	case a.entitled == nil && b.entitled == nil:
	default:
		if c := a.beyond.compareWeighted(a.weight, b.beyond, b.weight); c != 0 {
			return c
		}
	}
	return a.dominant.compareWeighted(a.weight, b.dominant, b.weight)
}

// partHeap is the heap of those parts of a part that have something to offer.
type partHeap struct {
	of    *part
	parts []*part
}

func (h *partHeap) Len() int { return len(h.parts) }

func (h *partHeap) Less(i, j int) bool { return turnBefore(h.of.policy(), h.parts[i], h.parts[j]) }

func (h *partHeap) Swap(i, j int) {
	h.parts[i], h.parts[j] = h.parts[j], h.parts[i]
	h.parts[i].index, h.parts[j].index = i, j
}

func (h *partHeap) Push(x any) {
	p := x.(*part)
	p.index = len(h.parts)
	h.parts = append(h.parts, p)
}

func (h *partHeap) Pop() any {
	last := len(h.parts) - 1
	p := h.parts[last]
	h.parts[last], h.parts = nil, h.parts[:last]
	p.index = -1
	return p
}

// offer brings the part, and all above it, to where they belong, after what is in it or
// what is charged to it has changed. One key changes in each heap on the way up.
func (p *part) offer() {
	for ; ; p = p.parent {
		p.head = p.next()
		if p.held != nil && p.held.item != p.head {
			p.held.end() // another item is first, which may not be held
		}
		if p.parent == nil {
			return
		}
		turns := &p.parent.turns
		switch there := p.head != nil && p.held == nil; {
		case there && p.index < 0:
			stdheap.Push(turns, p)
		case there:
			stdheap.Fix(turns, p.index)
		case p.index >= 0:
			// Less must not look at a part without an item.
			turns.drop(p)
		}
	}
}

// drop takes out a part, whose key may have no meaning any more.
func (h *partHeap) drop(p *part) {
	i, last := p.index, len(h.parts)-1
	h.Swap(i, last)
	h.Pop()
	if i < last {
		stdheap.Fix(h, i)
	}
}

// holds lists those of the part and of all below it, each after those of the parts below.
func (p *part) holds() (list []*hold) {
	for _, kid := range p.kids {
		list = append(list, kid.holds()...)
	}
	if p.held != nil && !p.held.pinned {
		list = append(list, p.held)
	}
	return list
}

// wait counts workloads that wait in the part.
func (p *part) wait(n int) {
	for ; p != nil; p = p.parent {
		p.waiting += n
	}
}

func (p *part) under(parent *part) {
	p.parent = parent
	parent.kids = append(parent.kids, p)
}

// sum is what is charged to the part of the resource.
func (p *part) sum(r int) *total {
	p.used = grown(p.used, r)
	return &p.used[r]
}

func (p *part) usedOf(r int) int64 {
	if r < len(p.used) {
		return p.used[r].amount()
	}
	return 0
}

// grown is the list with room for the resource.
func grown[T any](list []T, r int) []T {
	for len(list) <= r {
		var none T
		list = append(list, none)
	}
	return list
}
