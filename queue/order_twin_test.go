package queue

import (
	"maps"
	"math/big"
	"slices"

	"github.com/berth-project/berth/model"
)

// orderTwin is the order by queues without any of its structures: before every pop all
// is counted from what runs, and everything is sorted. It is the specification, and
// [TestOrderTwin] holds the tree of heaps against it.
type orderTwin struct {
	queues     map[string]*model.Queue
	principals map[string]*model.Principal
	limits     map[string]*model.Limit
	nodes      map[string]*model.Node
	running    []*model.Workload
	held       map[string]twinHold // by part
	usage      map[string]*twinUsage
	tick       int64
}

// twinHold is why a part is held: because of the item that is next in it, until what it waits for
// has become less.
type twinHold struct {
	part  twinPart
	item  *Item
	waits string
}

// twinPart is a part of the order: a queue, a principal in a queue, or those workloads of it that
// name the queue in the same way.
type twinPart struct {
	queue, principal string
	key              *leafKey // of a leaf
}

func (p twinPart) id() string {
	if p.key != nil {
		return "leaf " + p.key.queue + " " + p.key.principal
	}
	return "part " + p.queue + " " + p.principal
}

// queueOf is the queue of the workload, as it says or as its principals say.
func (t *orderTwin) queueOf(w *model.Workload) string {
	name := w.Queue
	for p := t.principals[w.Principal]; p != nil && name == ""; p = t.principals[p.Parent] {
		name = p.Queue
	}
	return name
}

// above lists the queues that the workload is in, the lowest first, and whether there are
// all of them.
func (t *orderTwin) above(w *model.Workload) (list []*model.Queue, whole bool) {
	for name := t.queueOf(w); name != ""; {
		q := t.queues[name]
		if q == nil {
			return list, false
		}
		list = append(list, q)
		name = q.Parent
	}
	return list, true
}

// accounts lists the principal of the workload and those above it, likewise.
func (t *orderTwin) accounts(w *model.Workload) (list []*model.Principal, whole bool) {
	for name := w.Principal; name != ""; {
		p := t.principals[name]
		if p == nil {
			return list, false
		}
		list = append(list, p)
		name = p.Parent
	}
	return list, true
}

// in is whether a workload is in the queue, or in one below it; all are in that without a name.
func (t *orderTwin) in(queue string) func(*model.Workload) bool {
	return func(w *model.Workload) bool {
		list, _ := t.above(w)
		return queue == "" || slices.ContainsFunc(list, func(q *model.Queue) bool { return q.Name == queue })
	}
}

var twinResources = []string{model.CPU, model.Memory, "gpu"}

// used is what the running workloads request for which the condition holds.
func (t *orderTwin) used(resource string, of func(*model.Workload) bool) (sum int64) {
	for _, w := range t.running {
		if of(w) {
			sum += requested(w, resource)
		}
	}
	return sum
}

func (t *orderTwin) capacity(resource string) (sum int64) {
	for _, n := range t.nodes {
		sum += n.Allocatable.Get(resource)
		for i := range n.Devices {
			if n.Devices[i].Class == resource {
				sum += model.WholeDevice
			}
		}
	}
	return sum
}

// next is the item that must be popped, nil for none. One that could never be placed is in
// the way of nobody, but counts as the next of its queue until its turn comes. A part whose
// next item must wait is held.
func (t *orderTwin) next(active []*Item) *Item {
	free := t.whole(active)
	for {
		it := t.walk(twinPart{}, free)
		if it == nil {
			return nil
		}
		part, waits := t.against(it.Workload, false)
		if part == nil {
			return it
		}
		if never, _ := t.against(it.Workload, true); never != nil {
			free = slices.DeleteFunc(free, func(o *Item) bool { return o == it })
			t.settle(free)
			continue
		}
		if hopeless(it.infos()) {
			return it
		}
		t.held[part.id()] = twinHold{*part, it, waits}
		t.settle(free)
	}
}

// whole are the items that need nothing that is not there.
func (t *orderTwin) whole(active []*Item) (list []*Item) {
	for _, it := range active {
		_, queues := t.above(it.Workload)
		_, accounts := t.accounts(it.Workload)
		if queues && accounts {
			list = append(list, it)
		}
	}
	return list
}

// settle ends the holds of parts in which another item is next.
func (t *orderTwin) settle(active []*Item) {
	free := t.whole(active)
	for again := true; again; {
		again = false
		for id, h := range t.held {
			inside := slices.DeleteFunc(slices.Clone(free), func(it *Item) bool { return !t.inside(h.part, it.Workload) })
			if len(inside) == 0 || t.walk(h.part, inside) != h.item {
				delete(t.held, id)
				again = true
			}
		}
	}
}

func (t *orderTwin) inside(p twinPart, w *model.Workload) bool {
	switch {
	case p.key != nil:
		return keyOf(w) == *p.key
	case p.principal != "":
		return t.queueOf(w) == p.queue && w.Principal == p.principal
	}
	return t.in(p.queue)(w)
}

// ended takes away a workload that ran, and the holds that waited for that.
func (t *orderTwin) ended(i int) {
	w := t.running[i]
	t.running = slices.Delete(t.running, i, i+1)
	waits := map[string]bool{}
	queues, _ := t.above(w)
	for _, q := range queues {
		waits["queue "+q.Name] = true
	}
	for _, l := range t.on(w) {
		waits[limitID(l, w)] = true
	}
	for id, h := range t.held {
		if waits[h.waits] {
			delete(t.held, id)
		}
	}
	t.lendAnew()
}

// started takes in a workload that runs. A queue that has used up what it kept keeps nobody back.
func (t *orderTwin) started(w *model.Workload) {
	before := t.keepers()
	t.running = append(t.running, w)
	if t.keepers() < before {
		t.lendAnew()
	}
}

// keepers counts what queues keep for themselves, by queue and resource.
func (t *orderTwin) keepers() (n int) {
	for _, q := range t.queues {
		for _, r := range twinResources {
			if (q.Parent == "" || t.queues[q.Parent] != nil) && t.keeps(q, r) > 0 {
				n++
			}
		}
	}
	return n
}

// lendAnew ends the holds of parts that what others do not lend holds no more.
func (t *orderTwin) lendAnew() {
	for id, h := range t.held {
		queues, _ := t.above(h.item.Workload)
		if part, _ := t.notLent(h.item.Workload, queues); h.waits == "lend" && (part == nil || part.id() != id) {
			delete(t.held, id)
		}
	}
}

// keeps is what the queue is guaranteed, does not lend and does not use.
func (t *orderTwin) keeps(q *model.Queue, r string) int64 {
	if lend, said := q.Lend[r]; said {
		return max(q.Guaranteed[r]-lend-t.used(r, t.in(q.Name)), 0)
	}
	return 0
}

// limitID tells the limit of one principal from that of another.
func limitID(l *model.Limit, w *model.Workload) string {
	if l.Scope == model.LimitEachPrincipal {
		return "limit " + l.Name + " " + w.Principal
	}
	return "limit " + l.Name
}

// walk is the item that has its turn among those of the part, those that are held aside.
func (t *orderTwin) walk(part twinPart, items []*Item) *Item {
	type candidate struct {
		part twinPart
		head *Item
	}
	if part.key != nil {
		return slices.MinFunc(items, leafOrder)
	}
	inside := map[string][]*Item{}
	parts := map[string]twinPart{}
	for _, it := range items {
		below := t.towards(part, it.Workload)
		inside[below.id()], parts[below.id()] = append(inside[below.id()], it), below
	}
	var list []candidate
	for _, id := range slices.Sorted(maps.Keys(parts)) {
		if _, held := t.held[id]; held {
			continue
		}
		if head := t.walk(parts[id], inside[id]); head != nil {
			list = append(list, candidate{parts[id], head})
		}
	}
	if len(list) == 0 {
		return nil
	}
	first := slices.MinFunc(list, func(a, b candidate) int { return t.compare(part, a.part, a.head, b.part, b.head) })
	return first.head
}

// towards is the part below the part that the workload is in.
func (t *orderTwin) towards(part twinPart, w *model.Workload) twinPart {
	if part.principal != "" || part.queue == t.queueOf(w) && w.Principal == "" {
		key := keyOf(w)
		return twinPart{part.queue, part.principal, &key}
	}
	if part.queue == t.queueOf(w) {
		return twinPart{queue: part.queue, principal: w.Principal}
	}
	list, _ := t.above(w)
	for i, q := range list {
		if q.Parent == part.queue && (part.queue != "" || i == len(list)-1) {
			return twinPart{queue: q.Name}
		}
	}
	panic("no way down")
}

func leafOrder(a, b *Item) int {
	switch {
	case a.Priority != b.Priority:
		return int(b.Priority - a.Priority)
	case !a.AddedAt.Equal(b.AddedAt):
		return a.AddedAt.Compare(b.AddedAt)
	}
	return compareSubmission(a, b)
}

func (t *orderTwin) compare(of, a twinPart, first *Item, b twinPart, second *Item) int {
	policy := model.OrderShare
	if q := t.queues[of.queue]; q != nil && q.Policy != "" {
		policy = q.Policy
	}
	if of.principal != "" {
		policy = model.OrderPriority
	}
	weightA, priorityA := t.weight(a)
	weightB, priorityB := t.weight(b)
	switch {
	case policy != model.OrderFIFO && priorityA != priorityB:
		return int(priorityB - priorityA)
	case policy == model.OrderPriority && first.Priority != second.Priority:
		return int(second.Priority - first.Priority)
	case (policy == model.OrderShare || policy == model.OrderUsage) && t.below(a) != t.below(b):
		if t.below(a) {
			return -1
		}
		return +1
	case (policy == model.OrderShare || policy == model.OrderUsage) && (weightA == 0) != (weightB == 0):
		return int(weightB - weightA)
	case policy == model.OrderUsage:
		if c := t.past(of, a, weightA).compare(t.past(of, b, weightB)); c != 0 {
			return c
		}
	case policy == model.OrderShare:
		if c := t.share(a, weightA, true).compare(t.share(b, weightB, true)); c != 0 {
			return c
		}
		if c := t.share(a, weightA, false).compare(t.share(b, weightB, false)); c != 0 {
			return c
		}
	}
	return compareSubmission(first, second)
}

func (t *orderTwin) weight(p twinPart) (weight int64, priority int32) {
	switch {
	case p.principal != "" && t.principals[p.principal] != nil:
		return t.principals[p.principal].Shares, 0
	case p.principal == "" && p.key == nil:
		return t.queues[p.queue].Weight, t.queues[p.queue].Priority
	}
	return 0, 0
}

// twinShare is a weighted dominant share, nil for one of nothing.
type twinShare struct{ rat *big.Rat }

func (a twinShare) compare(b twinShare) int {
	switch {
	case a.rat == nil && b.rat == nil:
		return 0
	case a.rat == nil:
		return +1
	case b.rat == nil:
		return -1
	}
	return a.rat.Cmp(b.rat)
}

// guaranteed is what the part is, with all that is guaranteed below it.
func (t *orderTwin) guaranteed(p twinPart, r string) int64 {
	if p.principal != "" || p.key != nil {
		return 0
	}
	var below int64
	for name, q := range t.queues {
		if q.Parent == p.queue {
			below += t.guaranteed(twinPart{queue: name}, r)
		}
	}
	q := t.queues[p.queue]
	n := max(q.Guaranteed[r], below)
	if most, said := q.Max[r]; said {
		n = min(n, most)
	}
	return n
}

// below reports whether the part uses less than is guaranteed.
func (t *orderTwin) below(p twinPart) bool {
	any := false
	for _, r := range twinResources {
		n := t.guaranteed(p, r)
		if n > 0 && t.used(r, t.in(p.queue)) >= n {
			return false
		}
		any = any || n > 0
	}
	return any
}

// share is the dominant share of what the part uses, or of what it uses beyond what is
// guaranteed.
func (t *orderTwin) share(p twinPart, weight int64, beyond bool) twinShare {
	of := t.in(p.queue)
	if p.principal != "" || p.key != nil {
		of = func(w *model.Workload) bool { return t.queueOf(w) == p.queue && w.Principal == p.principal }
	}
	most := new(big.Rat)
	for _, r := range twinResources {
		used, capacity := t.used(r, of), t.capacity(r)
		if beyond {
			used = max(used-t.guaranteed(p, r), 0)
		}
		if used == 0 {
			continue
		}
		if capacity == 0 {
			return twinShare{}
		}
		if s := big.NewRat(used, capacity); s.Cmp(most) > 0 {
			most = s
		}
	}
	return twinShare{most.Quo(most, big.NewRat(max(weight, 1), 1))}
}

// against is the part that is held because of the workload, and by what; nil where it may
// be placed, with empty even if nothing ran.
func (t *orderTwin) against(w *model.Workload, empty bool) (*twinPart, string) {
	key := keyOf(w)
	leaf := &twinPart{t.queueOf(w), w.Principal, &key}
	full := t.running
	if empty {
		t.running = nil
	}
	defer func() { t.running = full }()
	if name := t.tooLarge(w); name != "" {
		return leaf, name
	}
	if part, name := t.overLimit(leaf, w); part != nil {
		return part, name
	}
	queues, _ := t.above(w)
	for _, q := range queues {
		for _, r := range twinResources {
			if n := requested(w, r); n > 0 && n > t.free(q, r) {
				return &twinPart{queue: q.Name}, "queue " + q.Name
			}
		}
	}
	return t.notLent(w, queues)
}

func (t *orderTwin) free(q *model.Queue, r string) int64 {
	free := int64(1 << 60)
	if most, said := q.Max[r]; said {
		free = most - t.used(r, t.in(q.Name))
	}
	if borrow, said := q.Borrow[r]; said {
		free = min(free, q.Guaranteed[r]+borrow-t.used(r, t.in(q.Name)))
	}
	return free
}

// on lists the limits on the workload, from its queue up and then from its principal up.
func (t *orderTwin) on(w *model.Workload) (list []*model.Limit) {
	byName := func(of func(*model.Limit) bool) {
		for _, name := range slices.Sorted(maps.Keys(t.limits)) {
			if l := t.limits[name]; of(l) {
				list = append(list, l)
			}
		}
	}
	queues, _ := t.above(w)
	for i, q := range queues {
		byName(func(l *model.Limit) bool {
			return l.Queue == q.Name && (l.Scope != model.LimitOwn || i == 0) && (l.Scope != model.LimitEachPrincipal || w.Principal != "")
		})
	}
	accounts, _ := t.accounts(w)
	for i, p := range accounts {
		byName(func(l *model.Limit) bool { return l.Principal == p.Name && (l.Scope != model.LimitOwn || i == 0) })
	}
	return list
}

func (t *orderTwin) tooLarge(w *model.Workload) string {
	for _, l := range t.on(w) {
		if l.Scope == model.LimitEachWorkload && requested(w, l.Resource) > l.Amount {
			return l.Name
		}
	}
	return ""
}

func (t *orderTwin) overLimit(leaf *twinPart, w *model.Workload) (*twinPart, string) {
	for _, l := range t.on(w) {
		if l.Scope == model.LimitEachWorkload || l.Measure == model.LimitCount {
			continue
		}
		counts := func(w *model.Workload) int64 {
			if l.Measure == model.LimitRunning {
				return 1
			}
			return requested(w, l.Resource)
		}
		var used int64
		for _, other := range t.running {
			same := l.Scope != model.LimitEachPrincipal || other.Principal == w.Principal
			if same && slices.Contains(t.on(other), l) {
				used += counts(other)
			}
		}
		if n := counts(w); n > 0 && used+n > l.Amount {
			if l.Queue != "" && l.Scope == model.LimitSubtree {
				return &twinPart{queue: l.Queue}, limitID(l, w)
			}
			return leaf, limitID(l, w)
		}
	}
	return nil, ""
}

// notLent looks from the top down for what siblings keep for themselves.
func (t *orderTwin) notLent(w *model.Workload, queues []*model.Queue) (*twinPart, string) {
	part := twinPart{queue: t.queueOf(w), principal: w.Principal} // what is directly in the queue
	if w.Principal == "" {
		key := keyOf(w)
		part.key = &key
	}
	path := []twinPart{part}
	for _, q := range queues {
		path = append(path, twinPart{queue: q.Name})
	}
	slices.Reverse(path)
	for _, r := range twinResources {
		n := requested(w, r)
		if n == 0 {
			continue
		}
		available, parent := t.capacity(r)-t.used(r, t.in("")), ""
		for i, p := range path {
			var own, others int64
			for _, q := range t.queues {
				switch {
				case q.Name == p.queue && i < len(path)-1:
					own = t.keeps(q, r)
				case q.Parent == parent:
					others += t.keeps(q, r)
				}
			}
			if others > 0 {
				if available = max(min(own, available), available-others); n > available {
					return &p, "lend"
				}
			}
			if i < len(path)-1 {
				available = min(available, t.free(t.queues[p.queue], r))
				parent = p.queue
			}
		}
	}
	return nil, ""
}
