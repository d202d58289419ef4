package queue

import (
	"github.com/berth-project/berth/model"
	ledgers "github.com/berth-project/berth/queue/share"
)

// meterOf is the meter of the gauge. In a tree that has the history of another there may be none
// yet: then it is one that nobody keeps.
func (t *tree) meterOf(g *gauge) *meter {
	m := t.meters[g.key]
	if m == nil {
		m = newMeter(g.limit.HalfLife.Milliseconds(), t.tick)
		if !t.borrowed {
			t.meters[g.key] = m
		}
	}
	return m
}

// account notes that the workload begins to use so much, or ends.
func (m *meter) account(t *tree, g *gauge, w charged, give bool, n int64) {
	if t.borrowed {
		if t.looking && g.limit.Breach != model.LimitStop {
			amount := resourceSeconds(n, w.Limit)
			if give {
				g.ahead.add(amount)
			} else {
				g.ahead.sub(amount)
			}
		}
		return
	}
	if m.told && seconds(m.used(t.tick)) < g.limit.Amount {
		m.told = false
	}
	m.set(t.tick, g.used.amount())
	if give {
		m.plan(w, n)
	} else {
		m.drop(w.ID)
	}
}

// measureAll has a meter for each limit on what is used over time, and says what uses it now.
func (t *tree) measureAll() {
	if t.borrowed {
		return
	}
	kept := map[gaugeKey]*meter{}
	for _, g := range t.metered {
		m := t.meterOf(g)
		if halfLife := g.limit.HalfLife.Milliseconds(); m.halfLife() != halfLife {
			next := newMeter(halfLife, t.tick)
			next.add(t.tick, t.tick, m.used(t.tick))
			m = next
		}
		m.told = m.told && seconds(m.used(t.tick)) >= g.limit.Amount
		m.set(t.tick, g.used.amount())
		kept[g.key] = m
	}
	for key, m := range t.meters {
		l := t.limits[key.limit]
		if kept[key] == nil && l != nil && l.Measure == model.LimitResourceSeconds && l.HalfLife.Milliseconds() == m.halfLife() {
			m.set(t.tick, 0)
			kept[key] = m
		}
	}
	for _, m := range kept {
		m.planned, m.byID = nil, map[string]int{}
	}
	t.meters = kept
	t.planAll()
}

// planAll notes for each limit on what is used over time what those may yet use that it
// counts: its definition may be new, or others may be in its part.
func (t *tree) planAll() {
	if len(t.metered) == 0 {
		return
	}
	for _, leaf := range t.leaves { // sums, in whatever order
		for _, g := range leaf.leaf.gauges {
			if !g.seconds() {
				continue
			}
			for _, w := range leaf.leaf.charged {
				t.meterOf(g).plan(w, requested(w.Workload, g.limit.Resource))
			}
		}
	}
}

// over says how much too much the item asks for of what is left of a limit on what is used over
// time; 0 if there is enough. Of one that stops those beyond it anything is enough.
func (t *tree) over(g *gauge, it *Item, empty bool) (missing int64) {
	most := g.limit.Amount
	m := t.meterOf(g)
	var wanted int64
	it.each(func(w *model.Workload) {
		if n := requested(w, g.limit.Resource); n > 0 && g.limit.Breach == model.LimitStop {
			wanted = 1
		} else if n > 0 {
			wanted = saturated(wanted, resourceSeconds(n, w.Limit))
		}
	})
	if wanted == 0 {
		return 0
	}
	if !empty {
		most -= m.taken(t.tick, g)
	}
	return max(wanted-max(most, 0), 0)
}

// taken is what counts against the limit at a time, if until then nothing begins or ends.
func (m *meter) taken(tick int64, g *gauge) int64 {
	used := m.used(tick)
	if g.limit.Breach == model.LimitStop {
		// What is not a whole second yet is no reason to begin.
		return seconds(used)
	}
	left := m.left(tick)
	used, _ = used.Plus(ledgers.Uint128{Hi: left.hi, Lo: left.lo})
	return saturated(seconds(used), g.ahead.amount())
}

// frees is when what is used of the limit will have decayed so far that so much more is allowed,
// if nothing begins or ends.
func (t *tree) frees(h *hold) int64 {
	g := h.gauge
	if g == nil || g.limit.HalfLife == 0 {
		return never
	}
	m := t.meterOf(g)
	now := m.taken(t.tick, g)
	return first(t.tick, func(at int64) bool { return now-m.taken(at, g) >= h.missing })
}

// reaches is when what runs will have reached the limit.
func (t *tree) reaches(g *gauge) int64 {
	m := t.meterOf(g)
	if m.told || g.limit.Breach != model.LimitStop || g.used.amount() == 0 {
		return never
	}
	if m.asOf == never {
		m.asOf = t.tick
		reached := func(at int64) bool { return seconds(m.used(at)) >= max(g.limit.Amount, 1) }
		if m.reach = t.tick; !reached(t.tick) {
			m.reach = first(t.tick, reached)
		}
	}
	return m.reach
}

// metersDue is when a limit on what is used over time is reached, or lets something go on; never
// where none does.
func (t *tree) metersDue() int64 {
	due := int64(never)
	for _, g := range t.metered {
		due = min(due, t.reaches(g))
		for _, h := range g.waiters.holds {
			due = min(due, h.until)
		}
	}
	return due
}
