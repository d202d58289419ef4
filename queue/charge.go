package queue

import (
	"github.com/berth-project/berth/model"
)

// charge charges the workload, which has got a node, to the parts that it is in. A queue that has used up
// what it kept for itself holds nobody back any more.
func (t *tree) charge(w charged) {
	at, spent := t.account(w, true)
	at.leaf.running++
	if !t.borrowed {
		at.leaf.charged[w.ID] = w
	}
	if spent {
		t.wakeLenders()
	}
}

// discharge takes back what charge did, of the same workload, and looks again at the
// parts that waited for that.
func (t *tree) discharge(w *model.Workload) {
	leaf, _ := t.account(charged{Workload: w}, false)
	leaf.leaf.running--
	delete(leaf.leaf.charged, w.ID)
	for _, g := range leaf.leaf.gauges {
		g.waiters.wake(nil)
	}
	for p := leaf; p != nil; p = p.parent {
		p.waiters.wake(nil)
	}
	t.wakeLenders()
}

// wakeLenders ends the holds of parts that are not held any more by what others do not lend. Something else may
// be against them by now, which the next look finds: it waits for other things.
func (t *tree) wakeLenders() {
	t.lenders.wake(func(h *hold) bool {
		t.needAll(h.item)
		now := t.checkLending(h.item.at, false)
		return now == nil || now.part != h.part
	})
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
// brought to its place in the heap that it is in. It returns the leaf, and whether a queue keeps nothing
// any more of what it kept for itself.
func (t *tree) account(w charged, give bool) (leaf *part, spent bool) {
	by := (*total).add
	if !give {
		by = (*total).sub
	}
	leaf = t.leafOf(w.Workload)
	t.need = t.needs(t.need[:0], w.Workload)
	for p := leaf; p != nil; p = t.takesOf(p) {
		before := t.keptBy(p)
		for _, a := range t.need {
			by(p.sum(a.resource), a.n)
		}
		if before != nil && t.rekeep(p, before) {
			spent = true
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
	return leaf, spent
}
