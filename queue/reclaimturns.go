package queue

import (
	"cmp"
	"slices"
	"strings"
)

// candidate is one that may be displaced.
type candidate struct {
	*side
	index int
	size  int   // how many workloads
	end   *part // the part of which it is one of those to lose
	goes  bool  // it leaves anyway
	inOwn bool  // it is in the same queue: priorities decide
	rule  shareRule
	by    grounds // for which it was chosen, in another queue
	stays bool    // it was chosen and spared
}

// like reports whether the other has the same to say for itself.
func (c *candidate) like(other *candidate) bool {
	return c.path[0] == other.path[0] && c.priority == other.priority && slices.Equal(c.need, other.need)
}

// turns says whose turn it is to lose something: from the top down, of the parts that have
// candidates, the one that uses most beyond what it is guaranteed, over its weight; of
// siblings of different priority one of the lowest. Of equal ones those with queues below
// them come first, by name, and then the order of their first candidates decides.
type turns struct {
	*loads
	own     *side                  // who makes room
	waiting map[*part][]*candidate // by the part that loses them, the first to go first
	left    map[*part]int          // how many candidates there are in a part
	kids    map[*part][]*part      // those that have had candidates
	last    *part                  // whose turn it was
	repeat  *part                  // whose turn it is again
}

func newTurns(l *loads, own *side, list []*candidate) *turns {
	t := &turns{loads: l, own: own, waiting: map[*part][]*candidate{}, left: map[*part]int{}, kids: map[*part][]*part{}}
	for _, c := range list {
		at := slices.Index(c.path, c.end)
		for i, p := range c.path[at:] {
			if t.left[p]++; t.left[p] == 1 {
				above := l.t.top
				if at+i+1 < len(c.path) {
					above = c.path[at+i+1]
				}
				t.kids[above] = append(t.kids[above], p)
			}
		}
		t.waiting[c.end] = append(t.waiting[c.end], c)
	}
	for _, list := range t.waiting {
		slices.SortFunc(list, compareCandidates)
	}
	return t
}

// endOf is the part that loses the workload where it is displaced: its queue, or where
// that has queues below it, or there is none, the part of that which it is in.
func endOf(s *side) *part {
	if s.queue == nil {
		return s.path[len(s.path)-1]
	}
	at := slices.Index(s.path, s.queue)
	if at > 0 && slices.ContainsFunc(s.queue.kids, func(kid *part) bool { return kid.queue != nil }) {
		return s.path[at-1]
	}
	return s.queue
}

// compareCandidates orders those of one part, and the first ones of equal parts: those of
// other queues first, lower priority, fewer workloads, a later start, and as they were
// offered.
func compareCandidates(a, b *candidate) int {
	if a.inOwn != b.inOwn {
		if b.inOwn {
			return -1
		}
		return +1
	}
	return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.size, b.size),
		b.since.Compare(a.since), cmp.Compare(a.index, b.index))
}

// next takes out the candidate whose turn it is, nil where there is none.
func (t *turns) next() *candidate {
	end := t.repeat
	t.repeat = nil
	if end == nil || len(t.waiting[end]) == 0 {
		if end = t.below(t.t.top); end == nil {
			return nil
		}
	}
	c := t.waiting[end][0]
	t.waiting[end] = t.waiting[end][1:]
	t.count(c, -1)
	t.last = end
	return c
}

// again makes that it is once more the turn of the part whose turn it was, if it has any
// left.
func (t *turns) again() { t.repeat = t.last }

// leave leaves out what the part still has.
func (t *turns) leave(end *part) {
	for _, c := range t.waiting[end] {
		t.count(c, -1)
	}
	t.waiting[end] = nil
}

func (t *turns) count(c *candidate, n int) {
	for _, p := range c.path[slices.Index(c.path, c.end):] {
		t.left[p] += n
	}
}

// below is the part at the end whose turn it is of those below the part, nil for none.
func (t *turns) below(above *part) *part {
	for {
		var first *part
		var most share
		for _, p := range t.kids[above] {
			if t.left[p] <= 0 {
				continue
			}
			s := t.beyond(p)
			if s.used == 0 && !t.own.has(p) {
				continue // it has no more than it is guaranteed
			}
			if first == nil || t.before(p, s, first, most) {
				first, most = p, s
			}
		}
		if first == nil || t.isEnd(first) {
			return first
		}
		if end := t.below(first); end != nil {
			return end
		}
		t.left[first] = 0 // those that it has are not to lose anything
	}
}

func (t *turns) isEnd(p *part) bool { return len(t.waiting[p]) > 0 }

// before reports whether of two siblings the first is to lose something first.
func (t *turns) before(a *part, shareA share, b *part, shareB share) bool {
	if a.priority != b.priority {
		return a.priority < b.priority
	}
	if c := compareBeyond(shareA, a.weight, shareB, b.weight); c != 0 {
		return c > 0
	}
	switch endA, endB := t.isEnd(a), t.isEnd(b); {
	case endA != endB:
		return endB
	case !endA:
		return strings.Compare(a.name, b.name) < 0
	}
	return compareCandidates(t.waiting[a][0], t.waiting[b][0]) < 0
}
