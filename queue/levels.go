package queue

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/model"
)

// principalLevels are those of the principals of which the queue remembers anything, by name.
func (t *tree) principalLevels(p *part, tick int64) (list []Level) {
	if p.book == nil {
		return nil
	}
	names := map[string]bool{}
	for _, e := range p.book.list {
		if e.Principal != "" {
			names[e.Principal] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		kid := t.homes[home{p, name}]
		if kid == nil {
			kid = newPart(name)
			kid.parent = p
			if principal := t.principals[name]; principal != nil {
				kid.weight = principal.Shares
			}
		}
		l := t.level(kid, tick)
		l.Queue, l.Principal = p.name, name
		list = append(list, l)
	}
	return list
}

// limitLevels are those of the limits of which something is used, by name, and of one on each principal
// by the principals. One on each workload is not among them: nothing counts together towards it.
func (t *tree) limitLevels(tick int64) (list []Level) {
	note := func(l *model.Limit, principal string, used int64) {
		there := l != nil && (l.Queue == "" || t.parts[l.Queue] != nil)
		if there && used > 0 {
			list = append(list, Level{Limit: l.Name, Principal: principal, Resource: l.Resource, Used: used, Capacity: l.Amount})
		}
	}
	for key, n := range t.counts {
		note(t.limits[key.limit], key.principal, int64(n))
	}
	for key, g := range t.gauges {
		if !g.seconds() {
			note(g.limit, key.principal, g.used.amount())
		}
	}
	for key, m := range t.meters {
		g := t.gauges[key]
		if l := t.limits[key.limit]; g == nil && l != nil {
			g = &gauge{limit: l} // those that it counts are gone, and what they have used is remembered
		}
		if g != nil {
			note(g.limit, key.principal, m.taken(tick, g))
		}
	}
	slices.SortFunc(list, func(a, b Level) int {
		return cmp.Or(cmp.Compare(a.Limit, b.Limit), cmp.Compare(a.Principal, b.Principal))
	})
	return list
}

// Levels lists the queues by name, as of the last Reorder, and after each that goes by usage
// the principals of which it remembers anything; then the limits of which something is used. What has
// been used over time is as of now, or if that is earlier as of what was told last. None where the
// order is not by queues.
func (q *Queue) Levels(now time.Time) []Level {
	t := q.tree
	if t == nil {
		return nil
	}
	tick := max(tickOf(now), t.tick)
	var list []Level
	for _, name := range slices.Sorted(maps.Keys(t.parts)) {
		list = append(list, t.level(t.parts[name], tick))
		list = append(list, t.principalLevels(t.parts[name], tick)...)
	}
	return append(list, t.limitLevels(tick)...)
}
