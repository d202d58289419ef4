package queue

import (
	"github.com/berth-project/berth/model"
)

// limitsOn calls f for the limits on workloads that name the queue and the principal, from
// the queue up and then from the principal up. Principal is set where each principal has
// the limit for itself.
func (t *tree) limitsOn(key leafKey, f func(l *model.Limit, principal string)) {
	own := t.queueOf(key)
	for q := t.queues[own]; q != nil; q = t.queues[q.Parent] {
		for _, l := range t.limitsOf[limited{queue: q.Name}] {
			switch {
			case l.Scope == model.LimitOwn && q.Name != own:
			case l.Scope != model.LimitEachPrincipal:
				f(l, "")
			case key.principal != "":
				f(l, key.principal)
			}
		}
	}
	for p := t.principals[key.principal]; p != nil; p = t.principals[p.Parent] {
		for _, l := range t.limitsOf[limited{principal: p.Name}] {
			if l.Scope != model.LimitOwn || p.Name == key.principal {
				f(l, "")
			}
		}
	}
}

// measure finds the limits on the workloads of the leaf, and counts what is charged to it.
func (t *tree) measure(leaf *part) {
	t.limitsOn(leaf.leaf.key, func(l *model.Limit, principal string) {
		switch {
		case l.Scope == model.LimitEachWorkload:
			leaf.leaf.each = append(leaf.leaf.each, l)
		case l.Scope == model.LimitSubtree && l.Queue != "":
			t.gauge(leaf, l, principal, t.parts[l.Queue])
		default:
			t.gauge(leaf, l, principal, nil)
		}
	})
}

// gauge adds the leaf to those that the limit counts together, if it counts what runs.
func (t *tree) gauge(leaf *part, l *model.Limit, principal string, held *part) {
	if l.Measure == model.LimitCount {
		return
	}
	key := gaugeKey{l.Name, principal}
	g := t.gauges[key]
	if g == nil {
		g = &gauge{limit: l, resource: -1, part: held, key: key}
		if l.Measure != model.LimitRunning {
			g.resource = t.numberOf(l.Resource)
		}
		if t.gauges[key] = g; g.seconds() {
			t.metered = append(t.metered, g)
		}
	}
	leaf.leaf.gauges = append(leaf.leaf.gauges, g)
	if g.resource < 0 {
		g.used.add(int64(leaf.leaf.running))
	} else if g.resource < len(leaf.used) {
		g.used.plus(leaf.used[g.resource])
	}
}

// recount counts so many workloads more towards the limits on their number.
func (t *tree) recount(key leafKey, n int) {
	t.limitsOn(key, func(l *model.Limit, principal string) {
		if l.Measure == model.LimitCount {
			t.counts[gaugeKey{l.Name, principal}] += n
		}
	})
}

// checkLimits looks for a limit that the item would break. One that it breaks by itself is
// broken also where nothing is placed.
func (t *tree) checkLimits(leaf *part, it *Item, need []amount, empty bool) *hold {
	if h := tooLarge(leaf, it.Workload); it.Group == nil && h != nil {
		return h
	}
	for _, m := range it.Members {
		if h := tooLarge(leaf, m.Workload); h != nil {
			return h
		}
	}
	for _, g := range leaf.leaf.gauges {
		var missing int64
		if g.seconds() {
			missing = t.over(g, it, empty)
		} else {
			free := g.limit.Amount
			if !empty {
				free = max(free-g.used.amount(), 0)
			}
			missing = g.counts(need, max(len(it.Members), 1)) - free
		}
		if missing > 0 {
			held := g.part
			if held == nil {
				held = leaf
			}
			return &hold{part: held, list: &g.waiters, limit: g.limit, gauge: g, resource: g.resource, missing: missing}
		}
	}
	return nil
}

// tooLarge finds a limit that the workload breaks by itself.
func tooLarge(leaf *part, w *model.Workload) *hold {
	for _, l := range leaf.leaf.each {
		n := requested(w, l.Resource)
		if l.Measure == model.LimitResourceSeconds && n > 0 {
			n = resourceSeconds(n, w.Limit)
		}
		if n > l.Amount {
			return &hold{part: leaf, list: &leaf.waiters, limit: l, resource: -1, missing: n - l.Amount}
		}
	}
	return nil
}
