package queue

import (
	"github.com/berth-project/berth/model"
)

// charge charges the workload, which has got a node, to the parts that it is in.
func (t *tree) charge(w charged) {
	leaf := t.account(w, true).leaf
	leaf.running++
	if !t.borrowed {
		leaf.charged[w.ID] = w
	}
}

// discharge takes back what charge did, of the same workload, and looks again at the
// parts that waited for that.
func (t *tree) discharge(w *model.Workload) {
	leaf := t.account(charged{Workload: w}, false)
	leaf.leaf.running--
	delete(leaf.leaf.charged, w.ID)
	for _, g := range leaf.leaf.gauges {
		g.waiters.wake(nil)
	}
	for p := leaf; p != nil; p = p.parent {
		p.waiters.wake(nil)
	}
	t.lenders.wake(func(h *hold) bool { return t.check(h.item.at, h.item, false) == nil })
}

// replan notes that the workload must have ended by another time, if it is charged. What waited for what
// it may yet use looks again.
func (t *tree) replan(w charged) bool {
	leaf := t.leafOf(w.Workload)
	if _, known := leaf.leaf.charged[w.ID]; !known {
		return false
	}
	leaf.leaf.charged[w.ID] = w
	for _, g := range leaf.leaf.gauges {
		if g.seconds() {
			t.meterOf(g).plan(w, requested(w.Workload, g.limit.Resource))
			g.waiters.wake(nil)
		}
	}
	return true
}

// account charges or discharges. Along the way up each part's key changes, and it is
// brought to its place in the heap that it is in.
func (t *tree) account(w charged, give bool) *part {
	by := (*total).add
	if !give {
		by = (*total).sub
	}
	leaf := t.leafOf(w.Workload)
	t.need = t.needs(t.need[:0], w.Workload)
	for p := leaf; p != nil; p = t.takesOf(p) {
		before := t.keptBy(p)
		for _, a := range t.need {
			by(p.sum(a.resource), a.n)
		}
		if before != nil {
			t.rekeep(p, before)
		}
		t.spend(p)
		t.weigh(p)
	}
	for _, g := range leaf.leaf.gauges {
		n := g.counts(t.need, 1)
		if n > 0 {
			by(&g.used, n)
		}
		if g.seconds() {
			t.meterOf(g).account(t, g, w, give, n)
		}
	}
	leaf.offer()
	return leaf
}
