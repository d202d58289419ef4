package queue

import (
	"maps"
	"math/bits"
	"slices"

	"github.com/berth-project/berth/model"
	ledgers "github.com/berth-project/berth/queue/share"
)

// chargeAllLate does it.
func (t *tree) chargeAllLate() {
	for _, l := range t.late {
		leaf := t.leafOf(l.workload)
		t.need = t.needs(t.need[:0], l.workload)
		t.chargeLate(leaf, l.since)
		for p := leaf; p != nil; p = p.parent {
			t.weigh(p)
		}
		for _, g := range leaf.leaf.gauges {
			if g.seconds() {
				t.meterOf(g).addLate(t.tick, l.since, g.counts(t.need, 1))
			}
		}
		leaf.offer()
	}
	t.late = nil
}

// chargeLate charges the parts above the leaf for what somebody has used since a time that is
// over, of those needs.
func (t *tree) chargeLate(leaf *part, since int64) {
	if t.borrowed || since >= t.history.tick {
		return
	}
	for p := leaf; p.parent != nil; p = p.parent {
		b := p.parent.book
		if b == nil {
			continue
		}
		// What is too much stays at the most that there can be.
		if len(b.prices) > 0 {
			cost := t.cost(b, func(r int) int64 { return amountOf(t.need, r) })
			_ = b.ledger.ChargeSpan(t.number(p, -1), t.history.tick, since, cost)
			continue
		}
		for _, a := range t.need {
			_ = b.ledger.ChargeSpan(t.number(p, a.resource), t.history.tick, since, min(a.n, b.most))
		}
	}
}

func amountOf(need []amount, r int) int64 {
	for _, a := range need {
		if a.resource == r {
			return a.n
		}
	}
	return 0
}

// chargePast is ChargePast, or where the history is that of another tree, what follows from it.
func (t *tree) chargePast(at int64, key leafKey, used map[string]int64) {
	leaf := t.leafOf(&model.Workload{Queue: key.queue, Principal: key.principal})
	for _, name := range slices.Sorted(maps.Keys(used)) {
		r := t.numberOf(name)
		if t.borrowed {
			continue
		}
		hi, lo := bits.Mul64(uint64(used[name]), 1000)
		amount := ledgers.Uint128{Hi: hi, Lo: lo}
		for p := leaf; p.parent != nil; p = p.parent {
			// What is too much stays at the most that there can be.
			if b := p.parent.book; b != nil && len(b.prices) > 0 {
				_ = b.ledger.ChargeAt(t.number(p, -1), t.tick, at, b.pricedPast(name, amount))
			} else if b != nil {
				_ = b.ledger.ChargeAt(t.number(p, r), t.tick, at, amount)
			}
		}
		for _, g := range leaf.leaf.gauges {
			if g.seconds() && g.resource == r {
				t.meterOf(g).add(t.tick, at, amount)
			}
		}
	}
	for p := leaf; p != nil; p = p.parent {
		if t.borrowed {
			t.recall(p)
		}
		t.weigh(p)
	}
	leaf.offer()
}
