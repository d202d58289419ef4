package queue

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
)

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
		if !q.isProfile(it.Workload.Profile) {
			return // no event gives it one
		}
		it.rejectors = append(it.rejectors, rejector{item: it, reg: q.hints.unhinted})
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
		if r.first != nil || len(r.fronts) > 0 {
			q.matched = append(q.matched, r)
		}
	}
	if interest {
		q.matched = append(q.matched, q.hints.unhinted)
	}
	return interest
}

// worth judges what a change means for a rejected item, and says which plugin
// decided. The hints of the pending plugins are asked first: their yes is the
// highest verdict. So the first yes settles it (kube-scheduler asks in the order
// of a map and goes on as long as a higher verdict is possible, to the same
// end).
func (q *Queue) worth(it *Item, c *extpoints.Event) (verdict, string) {
	if it.Group != nil {
		return q.worthToAny(it, c)
	}
	if c.ClusterEvent.Label == RoomGivenUp && c.OldWorkload != nil && c.OldWorkload.ID == it.ID() {
		return skip, ""
	}
	if c.ClusterEvent.IsWildcard() {
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
func (q *Queue) worthToAny(it *Item, c *extpoints.Event) (verdict, string) {
	if q.rejectedAsOne(it) {
		return afterBackoff, ""
	}
	best, by := skip, ""
	for _, m := range it.Members {
		if best == afterBackoff && len(m.PendingPlugins) == 0 {
			continue // it can say no more than that
		}
		v, plugin := afterBackoff, ""
		if m.rejected() || c.ClusterEvent.IsWildcard() {
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

// rejectedAsOne reports whether it is a tree of groups that waits for events since it was
// rejected, which happens where order is strict. It is glad of any event: what may help a
// tree is more than what may help its members, for it may find room in other ways.
func (q *Queue) rejectedAsOne(it *Item) bool { return q.strict && it.GatingPlugin == "" }

// resolveTree gathers the registrations that the members wait for.
func (q *Queue) resolveTree(it *Item) {
	add := func(r *registration) {
		if !slices.ContainsFunc(it.rejectors, func(j rejector) bool { return j.reg == r }) {
			it.rejectors = append(it.rejectors, rejector{item: it, reg: r})
		}
	}
	if q.rejectedAsOne(it) {
		add(q.hints.unhinted)
		return
	}
	unhinted := false // of a tree that is not complete most are
	for _, m := range it.Members {
		if !unhinted && !m.rejected() {
			unhinted = true
			add(q.hints.unhinted)
		}
		for i := range m.rejectors {
			add(m.rejectors[i].reg)
		}
	}
}

// saysQueue reports whether any of the plugin's hints for the change says that
// another attempt is worth it. A hint that fails does.
func (q *Queue) saysQueue(j *rejector, c *extpoints.Event) bool {
	for i := range j.reg.hints {
		h := &j.reg.hints[i]
		if !h.Event.Matches(c.ClusterEvent) {
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
