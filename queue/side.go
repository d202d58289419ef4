package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// side is what comes or goes as one when room is made, with the parts of the order that it
// is in.
type side struct {
	path     []*part // from the leaf up, the top aside
	queue    *part   // the one that it names; nil for none
	need     []amount
	priority int32
	since    time.Time
}

// sideOf is that of the workloads, all of one queue and principal.
func (l *loads) sideOf(list []*extpoints.WorkloadInfo, priority int32) *side {
	s := &side{priority: priority}
	for p := l.leafOf(list[0].Workload); p != nil && p != l.t.top; p = p.parent {
		s.path = append(s.path, p)
		if s.queue == nil && p.queue != nil {
			s.queue = p
		}
	}
	for _, w := range list {
		s.need = l.t.needs(s.need, w.Workload)
	}
	return s
}

// leafOf is the leaf of the workload; where it is not there, because nothing waits or is
// charged in it, one that is like it and in no list.
func (l *loads) leafOf(w *model.Workload) *part {
	t, key := l.t, keyOf(w)
	if leaf := t.leaves[key]; leaf != nil && (leaf.parent != nil || t.homeOf(leaf).parent == nil) {
		return leaf
	}
	if leaf := l.absent[key]; leaf != nil {
		return leaf
	}
	leaf := newPart(key.principal)
	leaf.leaf = &leafPart{key: key}
	leaf.parent = t.homeOf(leaf).parent
	if p := t.principals[key.principal]; p != nil {
		leaf.weight = p.Shares
	}
	l.absent[key] = leaf
	return leaf
}

// asks is how much of the resource it needs.
func (s *side) asks(r int) int64 {
	for _, a := range s.need {
		if a.resource == r {
			return a.n
		}
	}
	return 0
}

// has reports whether the part is one of those that it is in.
func (s *side) has(p *part) bool { return slices.Contains(s.path, p) }

// parting finds where the ways up to the top of the two part: their parts next to each
// other. False where both are in the same leaf.
func parting(a, b *side) (i, j int, ok bool) {
	i, j = len(a.path)-1, len(b.path)-1
	for i >= 0 && j >= 0 && a.path[i] == b.path[j] {
		i, j = i-1, j-1
	}
	return i, j, i >= 0 && j >= 0
}

// loads is what parts would use, as things are imagined.
type loads struct {
	t      *tree
	used   map[*part][]int64
	absent map[leafKey]*part // leaves that stand for some that are not there
}

// of is what the part would use, by resource.
func (l *loads) of(p *part) []int64 {
	used, known := l.used[p]
	if !known {
		used = make([]int64, len(l.t.names))
		for r := range p.used {
			used[r] = p.used[r].amount()
		}
		l.used[p] = used
	}
	return used
}

// in is what the part would use of the resource.
func (l *loads) in(p *part, r int) int64 {
	if used := l.of(p); r < len(used) {
		return used[r]
	}
	return 0
}

// add lets the side come.
func (l *loads) add(s *side) { l.move(s, 1) }

// remove lets it go.
func (l *loads) remove(s *side) { l.move(s, -1) }

func (l *loads) move(s *side, sign int64) {
	for _, p := range s.path {
		used := l.of(p)
		for _, a := range s.need {
			for len(used) <= a.resource {
				used = append(used, 0)
			}
			if sign > 0 {
				used[a.resource] = saturated(used[a.resource], a.n)
			} else {
				used[a.resource] -= a.n
			}
		}
		l.used[p] = used
	}
}

// beyond is the dominant share of what the part would use beyond what it is guaranteed.
func (l *loads) beyond(p *part) share {
	most := share{0, 1}
	for r, used := range l.of(p) {
		if s := l.t.shareOf(max(used-p.entitledOf(r), 0), r); most.compare(s) < 0 {
			most = s
		}
	}
	return most
}

// dominant is the dominant share of what it would use.
func (l *loads) dominant(p *part) share {
	most := share{0, 1}
	for r, used := range l.of(p) {
		if s := l.t.shareOf(max(used, 0), r); most.compare(s) < 0 {
			most = s
		}
	}
	return most
}

// compareBeyond compares what two parts use beyond what they are guaranteed, over their
// weights. Nothing is less than anything, also without a weight.
func compareBeyond(a share, weight int64, b share, other int64) int {
	if a.used == 0 || b.used == 0 {
		return cmp.Compare(min(a.used, 1), min(b.used, 1))
	}
	return a.compareWeighted(weight, b, other)
}
