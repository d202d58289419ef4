package explain

import (
	"maps"
	"slices"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// part is a queue, or what a namespace has in it.
type part struct{ queue, namespace string }

// counted is a limit, or with scope EachNamespace that on one namespace.
type counted struct{ limit, namespace string }

// load is what pods request that have a node, how many these are, and how many wait.
type load struct {
	used             model.Resources
	running, waiting int
}

func (l *load) pods() int { return l.running + l.waiting }

func (l *load) add(other *load) {
	l.used.Add(&other.used)
	l.running += other.running
	l.waiting += other.waiting
}

// queueTree is what is known of the queues and limits.
type queueTree struct {
	view     *engine.View
	queues   map[string]*model.Queue
	below    map[string][]string // the queues in each, by name
	capacity model.Resources
	// own is what is in each queue itself, namespaces that by namespace, and total what is in it and
	// in all below it.
	own         map[string]*load
	namespaces  map[string]map[string]*load
	total       map[string]*load
	past        map[part]*queue.Level
	used        map[counted]*queue.Level
	heldByQueue map[string]int // by a quota, or because the queue is not there
	heldByLimit map[counted]int
	counts      map[string]map[string]bool // by limit, the namespaces of which it counts or holds back something
	out         []api.QueueUse
}

func newQueueTree(view *engine.View, levels []queue.Level, held map[string]*queue.Held) *queueTree {
	t := &queueTree{
		view: view, queues: map[string]*model.Queue{}, below: map[string][]string{},
		own: map[string]*load{}, namespaces: map[string]map[string]*load{}, total: map[string]*load{},
		past: map[part]*queue.Level{}, used: map[counted]*queue.Level{},
		heldByQueue: map[string]int{}, heldByLimit: map[counted]int{}, counts: map[string]map[string]bool{},
	}
	for o := range view.Objects(model.QueueKind) {
		q := o.Object.(*model.Queue)
		t.queues[q.Name] = q
		t.below[q.Parent] = append(t.below[q.Parent], q.Name)
	}
	for _, names := range t.below {
		slices.Sort(names)
	}
	for n := range view.Nodes() {
		t.capacity.Add(&n.Allocatable)
	}
	t.load()
	for i := range levels {
		if l := &levels[i]; l.Limit != "" {
			key := counted{l.Limit, l.Principal}
			t.used[key] = l
			t.count(key)
		} else {
			t.past[part{l.Queue, l.Principal}] = l
		}
	}
	for _, h := range held {
		t.hold(h)
	}
	return t
}

// load counts what pods use and how many wait, each in its own queue.
func (t *queueTree) load() {
	for w := range t.view.Workloads() {
		l := load{waiting: 1}
		switch {
		case w.Phase.TakesRoom() && w.Node != "":
			l = load{used: w.Requests, running: 1}
		case w.Phase != model.Pending:
			continue
		}
		name := queueOf(t.view, w.Workload)
		if t.own[name] == nil {
			t.own[name], t.namespaces[name] = &load{}, map[string]*load{}
		}
		t.own[name].add(&l)
		in := t.namespaces[name]
		if in[w.Namespace] == nil {
			in[w.Namespace] = &load{}
		}
		in[w.Namespace].add(&l)
	}
}

// hold counts a pod that is held back.
func (t *queueTree) hold(h *queue.Held) {
	if h.Quota != "" || h.Absent != "" && h.Principal == "" {
		t.heldByQueue[h.Queue]++
	}
	o, known := t.view.Object(model.ObjectRef{Kind: model.LimitKind, ID: h.Limit})
	if !known {
		return
	}
	key := counted{limit: h.Limit}
	if o.Object.(*model.Limit).Scope == model.LimitEachPrincipal {
		key.namespace = h.Principal
	}
	t.heldByLimit[key]++
	t.count(key)
}

// count notes that the limit is about something of the namespace.
func (t *queueTree) count(key counted) {
	if t.counts[key.limit] == nil {
		t.counts[key.limit] = map[string]bool{}
	}
	t.counts[key.limit][key.namespace] = true
}

// sum adds up what is in the queue and in all below it.
func (t *queueTree) sum(name string) *load {
	total := &load{}
	if own := t.own[name]; own != nil {
		total.add(own)
	}
	for _, below := range t.below[name] {
		total.add(t.sum(below))
	}
	t.total[name] = total
	return total
}

// namesIn are the namespaces with pods in the queue itself, and with the memory of it those of which
// it remembers anything.
func (t *queueTree) namesIn(of string, memory bool) []string {
	names := map[string]bool{}
	for name := range t.namespaces[of] {
		names[name] = true
	}
	for p := range t.past {
		if memory && p.queue == of && p.namespace != "" {
			names[p.namespace] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
