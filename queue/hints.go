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

// hints is Hooks.Hints, made ready.
type hints struct {
	profiles map[string]map[string]*registration // by profile and plugin
	byPlugin map[string][]*registration          // of all profiles
	all      []*registration
	// unhinted stands for all plugins of the profiles that have no hints, and
	// of members of groups that nothing has turned away.
	unhinted *registration
}

func newHints(cfg map[string][]PluginHints) hints {
	h := hints{
		profiles: make(map[string]map[string]*registration, len(cfg)),
		byPlugin: make(map[string][]*registration),
		unhinted: &registration{hints: []extpoints.EventHint{{Event: everything("")}}},
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

// link puts the item at the end of the list of each plugin that it waits for.
func (it *Item) link() {
	it.linked = true
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

// unlink undoes link, if the item is in the lists.
func (it *Item) unlink() {
	if !it.linked {
		return
	}
	it.linked = false
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

// merge appends to items those that are in the lists of the registrations, each
// of them once, in their order. The lists are in order already, so it takes the
// least of the heads again and again; an item that is in several lists is at
// all their heads at the same time.
func merge(items []*Item, regs []*registration) []*Item {
	var few [16]*rejector
	heads := few[:0]
	for _, r := range regs {
		if r.first != nil {
			heads = append(heads, r.first)
		}
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

// concerns reports whether an event for everything concerns a workload: it does
// unless it carries a new object, and that is not the workload.
func concerns(c *extpoints.Event, id string) bool {
	if c.NewWorkload != nil {
		return c.NewWorkload.ID == id
	}
	return c.NewNode == nil && c.NewGroup == nil
}
