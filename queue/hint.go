package queue

import (
	"maps"
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// verdict says what an event means for a workload that waits. The order
// matters: the highest of several counts.
type verdict uint8

const (
	skip         verdict = iota // nothing
	afterBackoff                // another attempt, once its backoff is over
	immediately                 // another attempt now
)

// hints is the configuration's Hints, made ready.
type hints struct {
	profiles map[string]map[string]*registration // by profile and plugin
	byPlugin map[string][]*registration          // of all profiles
	all      []*registration
	// strangers stands for all plugins of the profiles that have no hints, and
	// of members of groups that nothing has turned away.
	strangers *registration
}

// registration is what one plugin of one profile registered for, and the list
// of the unschedulable and gated items that wait for it, in order.
type registration struct {
	plugin      string
	hints       []extpoints.EventHint
	first, last *rejector
}

// rejector links an item to a plugin that it waits for.
type rejector struct {
	item       *Item
	reg        *registration
	pending    bool
	prev, next *rejector // in the registration's list, while the item is parked
}

func newHints(cfg map[string][]PluginHints) hints {
	h := hints{
		profiles:  make(map[string]map[string]*registration, len(cfg)),
		byPlugin:  make(map[string][]*registration),
		strangers: &registration{hints: []extpoints.EventHint{{Event: everything("")}}},
	}
	for _, profile := range slices.Sorted(maps.Keys(cfg)) {
		h.profiles[profile] = make(map[string]*registration, len(cfg[profile]))
		for _, p := range cfg[profile] {
			r := &registration{plugin: p.Plugin, hints: slices.Clone(p.Events)}
			h.profiles[profile][p.Plugin] = r
			h.byPlugin[p.Plugin] = append(h.byPlugin[p.Plugin], r)
			h.all = append(h.all, r)
		}
	}
	return h
}

// matches reports whether the plugin registered for the event.
func (r *registration) matches(event extpoints.ClusterEvent) bool {
	for i := range r.hints {
		if r.hints[i].Event.Matches(event) {
			return true
		}
	}
	return false
}

// resolve looks up the registrations of the plugins that an item waits for. The
// item must not be parked. A plugin that registered nothing is left out.
func (q *Queue) resolve(it *Item) {
	clear(it.rejectors)
	it.rejectors = it.rejectors[:0]
	if it.Group != nil {
		q.resolveTree(it)
		return
	}
	plugins, known := q.hints.profiles[it.Workload.Profile]
	if !known {
		it.rejectors = append(it.rejectors, rejector{item: it, reg: q.hints.strangers})
		return
	}
	for _, plugin := range it.PendingPlugins {
		if r := plugins[plugin]; r != nil {
			it.rejectors = append(it.rejectors, rejector{item: it, reg: r, pending: true})
		}
	}
	for _, plugin := range it.UnschedulablePlugins {
		if r := plugins[plugin]; r != nil && !slices.Contains(it.PendingPlugins, plugin) {
			it.rejectors = append(it.rejectors, rejector{item: it, reg: r})
		}
	}
}

// link puts the item at the end of the list of each plugin that it waits for.
func (it *Item) link() {
	for i := range it.rejectors {
		j := &it.rejectors[i]
		j.prev, j.next = j.reg.last, nil
		if j.prev == nil {
			j.reg.first = j
		} else {
			j.prev.next = j
		}
		j.reg.last = j
	}
}

// unlink undoes link.
func (it *Item) unlink() {
	for i := range it.rejectors {
		j := &it.rejectors[i]
		if j.prev == nil {
			j.reg.first = j.next
		} else {
			j.prev.next = j.next
		}
		if j.next == nil {
			j.reg.last = j.prev
		} else {
			j.next.prev = j.prev
		}
		j.prev, j.next = nil, nil
	}
}

// match fills q.matched with the registrations that have items waiting and
// match the event, and reports whether any plugin at all registered for it. An
// event that none did is of no interest, not even to items in flight.
func (q *Queue) match(event extpoints.ClusterEvent) bool {
	if event.IsWildcard() {
		return true
	}
	interest := false
	for _, r := range q.hints.all {
		if !r.matches(event) {
			continue
		}
		interest = true
		if r.first != nil {
			q.matched = append(q.matched, r)
		}
	}
	if interest && q.hints.strangers.first != nil {
		q.matched = append(q.matched, q.hints.strangers)
	}
	return interest
}

// merge appends to items those that are in the lists of the registrations, each
// of them once, in their order. The lists are in order already, so it takes the
// least of the heads again and again; an item that is in several lists is at
// all their heads at the same time.
func merge(items []*Item, regs []*registration) []*Item {
	var few [16]*rejector
	heads := few[:0]
	for _, r := range regs {
		heads = append(heads, r.first)
	}
	for len(heads) > 0 {
		next := heads[0].item
		for _, h := range heads[1:] {
			if h.item.seq < next.seq {
				next = h.item
			}
		}
		items = append(items, next)
		left := heads[:0]
		for _, h := range heads {
			if h.item == next {
				h = h.next
			}
			if h != nil {
				left = append(left, h)
			}
		}
		heads = left
	}
	return items
}

// worth judges what a change means for a rejected item, and says which plugin
// decided. The hints of the pending plugins are asked first: their yes is the
// highest verdict. So the first yes settles it (kube-scheduler asks in the order
// of a map and goes on as long as a higher verdict is possible, to the same
// end).
func (q *Queue) worth(it *Item, c *extpoints.Change) (verdict, string) {
	if it.Group != nil {
		return q.worthToAny(it, c)
	}
	if c.Event.Label == RoomGivenUp && c.OldWorkload != nil && c.OldWorkload.ID == it.ID() {
		return skip, ""
	}
	if c.Event.IsWildcard() {
		if !concerns(c, it.ID()) {
			return skip, ""
		}
		return afterBackoff, ""
	}
	for i := range it.rejectors {
		j := &it.rejectors[i]
		if !q.saysQueue(j, c) {
			continue
		}
		if j.pending {
			return immediately, j.reg.plugin
		}
		return afterBackoff, j.reg.plugin
	}
	return skip, ""
}

// worthToAny judges what a change means for a tree of groups: the highest of
// what it means for its members. One that nothing has turned away yet waits for
// the others, and is glad of any event.
func (q *Queue) worthToAny(it *Item, c *extpoints.Change) (verdict, string) {
	best, by := skip, ""
	for _, m := range it.Members {
		if best == afterBackoff && len(m.PendingPlugins) == 0 {
			continue // it can say no more than that
		}
		v, plugin := afterBackoff, ""
		if m.rejected() || c.Event.IsWildcard() {
			v, plugin = q.worth(m, c)
		}
		if v > best {
			best, by = v, plugin
		}
		if best == immediately {
			break
		}
	}
	return best, by
}

// resolveTree gathers the registrations that the members wait for.
func (q *Queue) resolveTree(it *Item) {
	add := func(r *registration) {
		if !slices.ContainsFunc(it.rejectors, func(j rejector) bool { return j.reg == r }) {
			it.rejectors = append(it.rejectors, rejector{item: it, reg: r})
		}
	}
	for _, m := range it.Members {
		if !m.rejected() {
			add(q.hints.strangers)
		}
		for i := range m.rejectors {
			add(m.rejectors[i].reg)
		}
	}
}

// concerns reports whether an event for everything concerns a workload: it does
// unless it carries a new object, and that is not the workload.
func concerns(c *extpoints.Change, id string) bool {
	if c.NewWorkload != nil {
		return c.NewWorkload.ID == id
	}
	return c.NewNode == nil && c.NewGroup == nil
}

// saysQueue reports whether any of the plugin's hints for the change says that
// another attempt is worth it. A hint that fails does.
func (q *Queue) saysQueue(j *rejector, c *extpoints.Change) bool {
	for i := range j.reg.hints {
		h := &j.reg.hints[i]
		if !h.Event.Matches(c.Event) {
			continue
		}
		if h.Hint == nil {
			return true
		}
		hint, err := h.Hint(j.item.Workload, c)
		if err != nil && q.cfg.OnHintError != nil {
			q.cfg.OnHintError(j.item.ID(), j.reg.plugin, err)
		}
		if err != nil || hint == extpoints.HintQueue {
			return true
		}
	}
	return false
}
