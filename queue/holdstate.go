package queue

import (
	"fmt"
	"slices"
)

// HoldState is a [hold] as values that can be written down. Holds do not follow from what waits and what is
// charged: what may have its turn first is held first, and by what was against it then.
type HoldState struct {
	Item string // ID
	// Above is how many parts the one that is held is above the leaf of the item.
	Above int   `json:",omitempty"`
	Quota Quota `json:",omitempty"` // none for a limit
	// Limit is its name, of one on what several workloads use: what is too much for a limit on each workload
	// is never held, but gated. Principal is the one that has the limit for itself.
	Limit     string `json:",omitempty"`
	Principal string `json:",omitempty"` // see Limit
	Resource  string `json:",omitempty"` // empty for a number of workloads
	Missing   int64  // how much too much it was, in the unit of the resource
	Until     int64  `json:",omitempty"` // when enough will have decayed, in milliseconds since 1970
}

func (t *tree) holdStates() (list []HoldState) {
	for _, h := range t.top.holds() {
		s := HoldState{Item: h.item.ID(), Quota: h.quota, Missing: h.missing, Until: h.until}
		for p := h.item.at; p != h.part; p = p.parent {
			s.Above++
		}
		if h.resource >= 0 {
			s.Resource = t.names[h.resource]
		}
		if h.gauge != nil {
			s.Limit, s.Principal = h.gauge.key.limit, h.gauge.key.principal
		}
		list = append(list, s)
	}
	return list
}

// holdOf is the hold of the state, not begun.
func (t *tree) holdOf(s *HoldState, it *Item) (*hold, error) {
	h := &hold{part: it.at, item: it, quota: s.Quota, resource: -1, missing: s.Missing, until: s.Until}
	for range s.Above {
		if h.part = h.part.parent; h.part == nil {
			return nil, fmt.Errorf("queue: %q is in fewer than %d parts of the order", s.Item, s.Above)
		}
	}
	if s.Resource != "" {
		h.resource = t.numberOf(s.Resource)
	}
	h.list = &h.part.waiters
	if s.Quota == QuotaLend {
		h.list = &t.lenders
	}
	if s.Limit == "" {
		return h, nil
	}
	i := slices.IndexFunc(it.at.leaf.gauges, func(g *gauge) bool { return g.key == gaugeKey{s.Limit, s.Principal} })
	if i < 0 {
		return nil, fmt.Errorf("queue: limit %q does not count %q", s.Limit, s.Item)
	}
	h.gauge = it.at.leaf.gauges[i]
	h.limit, h.list = h.gauge.limit, &h.gauge.waiters
	return h, nil
}
