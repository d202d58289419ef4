package queue

import (
	"github.com/berth-project/berth/model"
)

// hold says why a part does not have its turn: what its next item asks for is more than
// it may use now. The part comes back when what it waits for has become less, which
// looks the hold up by name, or when another item is next in it.
type hold struct {
	part *part
	item *Item
	list *waitList // what it waits for
	pos  int       // in the list
	// ended, if it is set, is told when the hold is over.
	ended func()
	// pinned: no item is to blame; the part is not to have its turn at all.
	pinned bool

	limit    *model.Limit // nil for a quota
	gauge    *gauge       // of a limit on what several workloads use
	until    int64        // when enough will have decayed, as a tick; never where nothing does
	quota    Quota
	resource int // -1 for a number of workloads
	missing  int64
}

// waitList are the holds that wait for the same thing.
type waitList struct{ holds []*hold }

// begin takes the part out of the turns of its parent.
func (h *hold) begin() {
	h.pos = len(h.list.holds)
	h.list.holds = append(h.list.holds, h)
	h.part.held = h
	h.part.offer()
}

// end forgets the hold; the part is to be offered then.
func (h *hold) end() {
	if h.pinned {
		return
	}
	last := len(h.list.holds) - 1
	moved := h.list.holds[last]
	h.list.holds[h.pos], moved.pos = moved, h.pos
	h.list.holds[last], h.list.holds = nil, h.list.holds[:last]
	h.part.held = nil
	if h.ended != nil {
		h.ended()
	}
}

// wake ends the holds for which the condition holds; nil: all of them.
func (l *waitList) wake(worth func(*hold) bool) {
	for i := len(l.holds) - 1; i >= 0; i-- {
		if i >= len(l.holds) {
			continue // to end one hold may have ended others
		}
		if h := l.holds[i]; worth == nil || worth(h) {
			h.end()
			h.part.offer()
		}
	}
}

// detach makes that nothing in the part has its turn; it is charged all the same.
func (p *part) detach() { p.held = &hold{part: p, list: &p.waiters, pinned: true} }

// Quota is one of the amounts of a queue that limit what it may use.
type Quota string

// The quotas.
const (
	QuotaMax    Quota = "max"    // [model.Queue].Max
	QuotaBorrow Quota = "borrow" // [model.Queue].Borrow, beyond what is guaranteed
	// QuotaLend: what is left is guaranteed to other queues, which do not lend it; see
	// [model.Queue].Lend.
	QuotaLend Quota = "lend"
)

// gauge is how much of a limit is used.
type gauge struct {
	limit    *model.Limit
	resource int // -1 for a number of workloads
	used     total
	key      gaugeKey
	ahead    total // of resource-seconds, what is charged for a look ahead only
	waiters  waitList
	part     *part // the part that is held where no more fits; nil: the leaf
}

// gaugeKey tells gauges apart: a limit on each principal has one for each.
type gaugeKey struct{ limit, principal string }

// counts is what the limit counts of so many workloads with these needs.
func (g *gauge) counts(need []amount, workloads int) int64 {
	if g.resource < 0 {
		return int64(workloads)
	}
	for _, a := range need {
		if a.resource == g.resource {
			return a.n
		}
	}
	return 0
}

// amount is so much of a resource.
type amount struct {
	resource int
	n        int64
}

// seconds reports whether the limit is one on what is used over time.
func (g *gauge) seconds() bool { return g.limit.Measure == model.LimitResourceSeconds }
