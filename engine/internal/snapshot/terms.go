package snapshot

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// terms are the affinity terms of one kind that workloads on nodes have. A term
// is filed under the labels of its anchor: one requirement of its selector, one
// of whose values a workload must have for the term to select it. Those without
// an anchor are in rest. They exist while there are some.
//
// Two terms are one if they read the same, the namespace filled in, and have the
// same weight. One that says the same in another order is another: that costs
// room and shows nowhere, since whoever asks adds them up. So a term needs no
// canonical key, to be written out for every workload that comes or goes; it is
// hashed and compared as it is.
type terms struct {
	tok *token
	catalog[term]
	rest table[*id]
}

// termsOfKinds are the terms by kind.
type termsOfKinds [extpoints.PreferredAntiAffinityTerm + 1]*terms

type term struct {
	extpoints.TermClass
	anchor int // index of the requirement, -1 for none
}

// ownTerm is an affinity term as a workload has it.
type ownTerm struct {
	*model.AffinityTerm
	kind      extpoints.TermKind
	weight    int32
	namespace string // of the workload
}

// isLocal reports whether the term speaks of the workload's own namespace.
func (t *ownTerm) isLocal() bool { return len(t.Namespaces) == 0 && t.NamespaceSelector == nil }

// count adds to the counts of the workload's affinity terms on a node.
func (k *termsOfKinds) count(tok *token, w *extpoints.WorkloadInfo, slot, by int32) {
	each := func(a *model.WorkloadAffinity, required, preferred extpoints.TermKind) {
		if a == nil {
			return
		}
		for i := range a.Required {
			k.countTerm(tok, w, &ownTerm{&a.Required[i], required, 0, w.Namespace}, slot, by)
		}
		for i := range a.Preferred {
			term := &a.Preferred[i]
			k.countTerm(tok, w, &ownTerm{&term.AffinityTerm, preferred, term.Weight, w.Namespace}, slot, by)
		}
	}
	each(w.Affinity, extpoints.RequiredAffinityTerm, extpoints.PreferredAffinityTerm)
	each(w.AntiAffinity, extpoints.RequiredAntiAffinityTerm, extpoints.PreferredAntiAffinityTerm)
}

// countTerm adds to the count of one term of the workload. A term without a
// selector selects nothing, so nobody will see it.
func (k *termsOfKinds) countTerm(tok *token, w *extpoints.WorkloadInfo, t *ownTerm, slot, by int32) {
	if t.Selector == nil {
		return
	}
	sum := t.sum()
	c := k.own(tok, t.kind)
	m, ok := c.members.find(sum, func(m *member[term]) bool { return m.id.sum == sum && t.is(&m.shown.TermClass) })
	switch {
	case ok:
		m = c.own(tok, m)
	case by < 0:
		panicChanged(w)
	default:
		class := extpoints.TermClass{Term: t.named(), Weight: t.weight}
		m = c.add(tok, sum, term{class, c.anchor(t.Selector)})
		c.fileTerm(tok, m)
	}
	m.shown.Counts = &m.counts
	if m.counts.add(tok, slot, by); m.counts.total > 0 {
		return
	}
	c.unfileTerm(tok, m)
	if c.drop(tok, m); c.size == 0 {
		k[t.kind] = nil
	}
}

func (k *termsOfKinds) own(tok *token, kind extpoints.TermKind) *terms {
	c := k[kind]
	switch {
	case c == nil:
		c = &terms{tok: tok}
	case c.tok != tok:
		own := *c
		own.tok = tok
		c = &own
	}
	k[kind] = c
	return c
}

func (c *terms) fileTerm(tok *token, m *member[term]) {
	anchor := m.shown.requirement()
	if anchor == nil {
		c.rest.put(tok, m.id)
		return
	}
	for value := range distinct(anchor.Values) {
		c.enter(tok, anchor.Key, value, m.id)
	}
}

func (c *terms) unfileTerm(tok *token, m *member[term]) {
	anchor := m.shown.requirement()
	if anchor == nil {
		c.rest.drop(tok, m.id)
		return
	}
	for value := range distinct(anchor.Values) {
		c.leave(tok, anchor.Key, value, m.id)
	}
}

// requirement is the anchor, nil for none.
func (t *term) requirement() *model.Requirement {
	if t.anchor < 0 {
		return nil
	}
	return &t.Term.Selector.Requirements[t.anchor]
}

// anchor chooses the anchor of a new term: the requirement under whose labels
// the fewest terms are filed, so that they do not all end up under one that all
// workloads have. It returns its index, -1 for none.
func (c *terms) anchor(selector *model.Selector) int {
	best, fewest := -1, 0
	for i := range selector.Requirements {
		r := &selector.Requirements[i]
		if !isAnchor(r) {
			continue
		}
		size := len(r.Values)
		for _, value := range r.Values {
			if file := c.under(r.Key, value); file != nil {
				size += file.size
			}
		}
		if best < 0 || size < fewest {
			best, fewest = i, size
		}
	}
	return best
}

// each calls f for the terms that select the labels.
func (c *terms) each(labels map[string]string, f func(*extpoints.TermClass)) {
	try := func(x *id) {
		if class := &c.get(x).shown.TermClass; class.Term.Selector.Matches(labels) {
			f(class)
		}
	}
	c.rest.each(try)
	for key, value := range labels {
		if file := c.under(key, value); file != nil {
			file.ids.each(try)
		}
	}
}

// named returns the term with the namespace filled in.
func (t *ownTerm) named() *model.AffinityTerm {
	if !t.isLocal() {
		return t.AffinityTerm
	}
	named := *t.AffinityTerm
	named.Namespaces = []string{t.namespace}
	return &named
}

// sum is the hash of the term with the namespace filled in.
func (t *ownTerm) sum() uint64 {
	sum := mix(hashOf(t.TopologyKey) + uint64(t.weight))
	if t.isLocal() {
		sum = sumText(sum, t.namespace)
	}
	for _, namespace := range t.Namespaces {
		sum = sumText(sum, namespace)
	}
	return sumSelector(sumSelector(sum, t.NamespaceSelector), t.Selector)
}

func sumSelector(sum uint64, s *model.Selector) uint64 {
	if s == nil {
		return mix(sum + 1)
	}
	for i := range s.Requirements {
		r := &s.Requirements[i]
		sum = sumText(sumText(sum, r.Key), string(r.Operator))
		for _, value := range r.Values {
			sum = sumText(sum, value)
		}
	}
	return mix(sum + 2)
}

func sumText(sum uint64, text string) uint64 { return mix(sum*3 + hashOf(text)) }

// is reports whether the term is the one of the class, which has the namespace
// filled in.
func (t *ownTerm) is(class *extpoints.TermClass) bool {
	other := class.Term
	if class.Weight != t.weight || other.TopologyKey != t.TopologyKey {
		return false
	}
	if t.isLocal() {
		if len(other.Namespaces) != 1 || other.Namespaces[0] != t.namespace {
			return false
		}
	} else if !slices.Equal(other.Namespaces, t.Namespaces) {
		return false
	}
	return sameSelector(other.NamespaceSelector, t.NamespaceSelector) && sameSelector(other.Selector, t.Selector)
}

func sameSelector(a, b *model.Selector) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Requirements, b.Requirements, func(x, y model.Requirement) bool {
		return x.Key == y.Key && x.Operator == y.Operator && slices.Equal(x.Values, y.Values)
	})
}
