package queue

import (
	"maps"
	"slices"
)

// weigh finds the dominant share of the part: the largest of its shares of the resources
// of the cluster; and that of what it uses beyond what it is guaranteed.
func (t *tree) weigh(p *part) {
	p.dominant, p.resource, p.beyond = share{0, 1}, -1, share{0, 1}
	p.below = false
	reached := false
	for r := range max(len(p.used), len(p.entitled)) {
		used, own := p.usedOf(r), p.entitledOf(r)
		p.below = p.below || own > 0
		reached = reached || own > 0 && used >= own
		if used == 0 {
			continue
		}
		if s := t.shareOf(used, r); p.dominant.compare(s) < 0 {
			p.dominant, p.resource = s, r
		}
		if s := t.shareOf(max(used-own, 0), r); p.beyond.compare(s) < 0 {
			p.beyond = s
		}
	}
	p.below = p.below && !reached
	if p.parent != nil && p.parent.book != nil {
		p.past = t.pastOf(p)
	}
}

// shareOf is so much of the resource as a share of what the cluster has.
func (t *tree) shareOf(n int64, r int) share {
	if n == 0 {
		return share{0, 1}
	}
	s := share{used: n}
	if r < len(t.capacity) {
		s.capacity = t.capacity[r].amount()
	}
	return s
}

// entitle finds what the queue and those below it are entitled to, those below first. A
// queue that guarantees its parts more than it is guaranteed itself counts with that, as
// far as its Max goes: else its siblings could take back what its parts may count on.
func (t *tree) entitle(p *part) {
	p.entitled = nil
	for _, kid := range p.kids {
		t.entitle(kid)
		for r, n := range kid.entitled {
			p.entitled = grown(p.entitled, r)
			p.entitled[r] = saturated(p.entitled[r], n)
		}
	}
	if p.queue == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(p.queue.Guaranteed)) {
		if n := p.queue.Guaranteed[name]; n > 0 {
			r := t.numberOf(name)
			p.entitled = grown(p.entitled, r)
			p.entitled[r] = max(p.entitled[r], n)
		}
	}
	for r := range p.entitled {
		if most, said := p.queue.Max[t.names[r]]; said {
			p.entitled[r] = min(p.entitled[r], most)
		}
	}
}

// entitledOf is what the part is guaranteed of the resource, with all in it.
func (p *part) entitledOf(r int) int64 {
	if r < len(p.entitled) {
		return p.entitled[r]
	}
	return 0
}
