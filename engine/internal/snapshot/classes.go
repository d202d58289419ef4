package snapshot

import (
	"fmt"
	"maps"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// space is the workloads on nodes that are in one namespace, by class. A class
// is filed under each of its labels. The space exists while it has workloads.
type space struct {
	tok       *token
	namespace string
	catalog[extpoints.WorkloadClass]
}

func (s *space) hash() uint64           { return hashOf(s.namespace) }
func (s *space) same(other *space) bool { return s.namespace == other.namespace }

// spaces are the workloads on nodes, by namespace.
type spaces struct{ table[*space] }

func (m *spaces) of(namespace string) (*space, bool) {
	return m.find(hashOf(namespace), func(s *space) bool { return s.namespace == namespace })
}

func (m *spaces) own(tok *token, namespace string) *space {
	s, ok := m.of(namespace)
	switch {
	case !ok:
		s = &space{tok: tok, namespace: namespace}
	case s.tok == tok:
		return s
	default:
		own := *s
		own.tok = tok
		s = &own
	}
	m.put(tok, s)
	return s
}

// sumClass is the hash of the workload's class within its namespace: a sum,
// since a map has no order.
func sumClass(w *extpoints.WorkloadInfo) uint64 {
	sum := uint64(len(w.Labels))
	if w.Terminating {
		sum = ^sum
	}
	for key, value := range w.Labels {
		sum += labelSum(key, value)
	}
	return sum
}

// sameClass reports whether two workloads of one namespace are of one class.
func sameClass(a, b *extpoints.WorkloadInfo) bool {
	return a.Terminating == b.Terminating && maps.Equal(a.Labels, b.Labels)
}

// count adds to the count of the workload's class on a node.
func (m *spaces) count(tok *token, w *extpoints.WorkloadInfo, slot, by int32) {
	sum := sumClass(w)
	s := m.own(tok, w.Namespace)
	class, ok := s.members.find(sum, func(m *member[extpoints.WorkloadClass]) bool {
		return m.id.sum == sum && m.shown.Terminating == w.Terminating && maps.Equal(m.shown.Labels, w.Labels)
	})
	switch {
	case ok:
		class = s.own(tok, class)
	case by < 0:
		panicChanged(w)
	default:
		class = s.add(tok, sum, extpoints.WorkloadClass{Namespace: w.Namespace, Labels: w.Labels, Terminating: w.Terminating})
		for key, value := range w.Labels {
			s.enter(tok, key, value, class.id)
		}
	}
	class.shown.Counts = &class.counts
	class.counts.add(tok, slot, by)
	if class.counts.total > 0 {
		return
	}
	for key, value := range class.shown.Labels {
		s.leave(tok, key, value, class.id)
	}
	if s.drop(tok, class); s.size == 0 {
		m.drop(tok, s)
	}
}

// panicChanged is for a workload that leaves and is not counted.
func panicChanged(w *extpoints.WorkloadInfo) {
	panic(fmt.Sprintf("snapshot: the labels or affinity terms of the workload %s were changed in place while it was on a node", w.ID))
}

// each calls f for the classes that the selector, which is not nil, selects.
func (s *space) each(selector *model.Selector, f func(*extpoints.WorkloadClass)) {
	try := func(class *member[extpoints.WorkloadClass]) {
		if selector.Matches(class.shown.Labels) {
			f(&class.shown)
		}
	}
	anchor := s.anchor(selector)
	if anchor == nil {
		s.members.each(try)
		return
	}
	for value := range distinct(anchor.Values) {
		if file := s.under(anchor.Key, value); file != nil {
			file.ids.each(func(x *id) { try(s.get(x)) })
		}
	}
}

// anchor returns the requirement in whose files it is best to look: the one
// that leaves the fewest classes. It is nil, for all classes, where none leaves
// less than a third: to go from a file to its members costs about three times as
// much as to go through all that there are.
func (s *space) anchor(selector *model.Selector) *model.Requirement {
	var best *model.Requirement
	fewest := s.size / 3
	for i := range selector.Requirements {
		r := &selector.Requirements[i]
		if !isAnchor(r) {
			continue
		}
		size := 0
		for value := range distinct(r.Values) {
			if file := s.under(r.Key, value); file != nil {
				size += file.size
			}
		}
		if size == 0 || size < fewest {
			best, fewest = r, size
		}
	}
	return best
}

// maxAnchor is the largest number of values for which it is worth while to look
// under each.
const maxAnchor = 16

// isAnchor reports whether what meets the requirement is in a few files.
func isAnchor(r *model.Requirement) bool {
	return r.Operator == model.In && len(r.Values) <= maxAnchor
}
