package queue

import (
	"maps"
	"slices"
	"time"
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

// Levels lists the queues by name, as of the last Reorder, and after each that goes by usage
// the principals of which it remembers anything. What they have used is as of now, or if that is
// earlier as of what was told last. None where the order is not by queues.
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
	return list
}
