package interpodaffinity

import (
	"errors"
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// prepared holds, from PreFilter to Filter, what is known of the domains.
var prepared = extpoints.NewStateKey[*filterState](Name + "/filter")

var errNotPrepared = errors.New("plugin InterPodAffinity: AddWorkload or RemoveWorkload without PreFilter before it: enable the plugin's PreFilter")

// rule is one of the three things that Filter asks, in this order.
type rule uint8

const (
	near   rule = iota // the incoming workload's required affinity
	apart              // its required anti-affinity
	barred             // the required anti-affinity of workloads on nodes
	rules
)

// filterState says how many workloads of interest are in which domain.
type filterState struct {
	// tables has a table for each topology key of the rule's terms: for near
	// workloads that all the terms mean, for apart those that some term means
	// (once for each), and for barred those that have a term that means the
	// incoming workload (once for each term). Tables are never changed.
	tables [rules][]table
	// moved is what has to be added to the tables. It has an entry for each
	// domain that a workload was put into or taken out of, which is never more
	// than a few: others are only ever tried out on one node at a time.
	moved []move
	// company is the sum over all tables of near.
	company int
	// self: all terms of near mean the incoming workload itself.
	self bool
}

type move struct {
	rule   rule
	table  int
	domain int32
	by     int32
}

// Clone returns a state that can be changed without touching st.
func (st *filterState) Clone() *filterState {
	c := *st
	c.moved = slices.Clone(st.moved)
	// So that what is appended here is not seen by other clones.
	c.tables[barred] = slices.Clip(st.tables[barred])
	return &c
}

// PreFilter counts the workloads that matter to the required terms of the
// workload, and those whose required anti-affinity it offends. It skips
// workloads for which there are neither terms nor such others.
func (*InterPodAffinity) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	st := prepare(s.View(), w)
	if st == nil {
		return nil, skip
	}
	prepared.Set(s, st)
	return nil, nil
}

// prepare makes the state; nil where every node will do.
func prepare(view extpoints.ClusterView, w *extpoints.WorkloadInfo) *filterState {
	affinity := ownTerms{required(w.Affinity), w.Namespace, view}
	anti := ownTerms{required(w.AntiAffinity), w.Namespace, view}
	offended := tablesOfOffended(view, w)
	if len(affinity.terms) == 0 && len(anti.terms) == 0 && len(offended) == 0 {
		return nil
	}
	st := &filterState{self: affinity.allSelect(w.Namespace, w.Labels)}
	st.tables[barred] = offended
	st.tables[near], st.company = tablesOfAll(affinity)
	st.tables[apart] = tablesOfAny(anti)
	return st
}

// tablesOfAll counts the workloads that all the terms mean, for each key, and
// over all keys.
func tablesOfAll(o ownTerms) (tables []table, company int) {
	if len(o.terms) == 0 {
		return nil, 0
	}
	found := tally{index: o.view.Index()}
	for i := range o.terms {
		found.page(o.terms[i].TopologyKey, 1)
	}
	slots := found.index.Slots()
	o.eachOfAll(func(c *extpoints.WorkloadClass) {
		for i := range found.pages {
			found.pages[i].add(c.Counts, slots)
		}
	})
	tables = make([]table, len(found.pages))
	for i := range found.pages {
		t, inDomains := found.pages[i].close()
		tables[i], company = t, company+inDomains
	}
	return tables, company
}

// tablesOfAny counts, for each key, the workloads that the terms with that key
// mean.
func tablesOfAny(o ownTerms) []table {
	if len(o.terms) == 0 {
		return nil
	}
	found := tally{index: o.view.Index()}
	slots := found.index.Slots()
	for i := range o.terms {
		p := found.page(o.terms[i].TopologyKey, 1)
		o.at(i).each(func(c *extpoints.WorkloadClass) { p.add(c.Counts, slots) })
	}
	tables := make([]table, len(found.pages))
	for i := range found.pages {
		tables[i], _ = found.pages[i].close()
	}
	return tables
}

// tablesOfOffended counts, for each key, the required anti-affinity terms of
// workloads on nodes that mean the incoming workload. There is no table where
// it would be empty.
func tablesOfOffended(view extpoints.ClusterView, w *extpoints.WorkloadInfo) []table {
	if len(view.Nodes().WithRequiredAntiAffinity()) == 0 {
		return nil
	}
	found := tally{index: view.Index()}
	found.index.Terms(extpoints.RequiredAntiAffinityTerm, w.Labels, func(c *extpoints.TermClass) {
		if termCovers(c.Term, view, w.Namespace) {
			found.add(c.Term.TopologyKey, 1, c.Counts)
		}
	})
	var tables []table
	for i := range found.pages {
		if t, inDomains := found.pages[i].close(); inDomains > 0 {
			tables = append(tables, t)
		}
	}
	return tables
}

// Filter rejects nodes that break one of the three rules.
func (*InterPodAffinity) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	st, ok := prepared.Get(s)
	if !ok {
		// The profile has disabled PreFilter (the reference fails the cycle
		// then), or it said Skip.
		if st = prepare(s.View(), w); st == nil {
			return nil
		}
	}
	switch {
	case !st.isNear(node):
		return notNear
	case st.hasSome(apart, node):
		return notApart
	case st.hasSome(barred, node):
		return notWanted
	}
	return nil
}

// isNear reports whether the node is near what the workload requires. For the
// first of workloads that want to be near each other it is enough that the
// node has the labels.
func (st *filterState) isNear(node *extpoints.NodeInfo) bool {
	alone := false
	for i := range st.tables[near] {
		domain := st.tables[near][i].topology.Of[node.Slot]
		if domain == 0 {
			return false
		}
		alone = alone || st.count(near, i, domain) <= 0
	}
	return !alone || st.company == 0 && st.self
}

// hasSome reports whether one of the rule's tables has workloads in the node's
// domain.
func (st *filterState) hasSome(r rule, node *extpoints.NodeInfo) bool {
	for i := range st.tables[r] {
		if st.count(r, i, st.tables[r][i].topology.Of[node.Slot]) > 0 {
			return true
		}
	}
	return false
}

// count is the number of workloads in a domain, with those that were moved.
func (st *filterState) count(r rule, i int, domain int32) int32 {
	n := st.tables[r][i].at(domain)
	for j := range st.moved {
		if m := &st.moved[j]; m.rule == r && m.table == i && m.domain == domain {
			n += m.by
		}
	}
	return n
}
