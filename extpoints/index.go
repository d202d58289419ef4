package extpoints

import "github.com/berth-project/berth/model"

// Index finds the workloads on the nodes of a [ClusterView] by what they are, so that
// a plugin that looks at other workloads (spreading, affinity) need not visit
// them all. Workloads that nobody can tell apart by namespace and labels are
// one class; what is counted is how many of a class are on which node. Only
// workloads on nodes that are there count. It is shared and must not be
// changed. Conformance: extpointstest.TestView.
type Index interface {
	// Slots is the length of a slice by [NodeInfo].Slot: one more than the
	// highest slot in use, or more.
	Slots() int
	// Topology says which domain of the key ([model.Node.TopologyValue]) each node
	// is in. It is remembered between cycles until a node comes, goes or changes its
	// labels or its zone.
	Topology(key string) *Topology
	// Classes calls f for every class of workloads in the namespace that the
	// selector selects, in no particular order; nil selects none.
	Classes(namespace string, selector *model.Selector, f func(*WorkloadClass))
	// ClassesWhere is Classes for all the namespaces for which in reports
	// true. It is asked once for each namespace that has workloads on nodes.
	ClassesWhere(in func(namespace string) bool, selector *model.Selector, f func(*WorkloadClass))
	// Terms calls f for every affinity term of the kind that some workload on
	// a node has and whose selector selects the labels, in no particular
	// order. Whether the term speaks of a namespace is left to the caller.
	Terms(kind TermKind, labels map[string]string, f func(*TermClass))
}

// WorkloadClass is the workloads on nodes that have the same namespace and the
// same labels, and are all terminating or all not.
type WorkloadClass struct {
	Namespace   string            // of all of them
	Labels      map[string]string // of all of them; shared, and must not be changed
	Terminating bool              // all of them are terminating
	Counts      Counts            // how many of them are on each node
}

// TermKind is where an affinity term stands.
type TermKind uint8

// The kinds of term.
const (
	RequiredAffinityTerm TermKind = iota
	RequiredAntiAffinityTerm
	PreferredAffinityTerm
	PreferredAntiAffinityTerm
)

// TermClass is the workloads on nodes that have the same affinity term. A
// workload with the same term twice counts twice.
type TermClass struct {
	// Term is the term; where it named no namespaces, Namespaces holds the one
	// of the workloads that have it.
	Term *model.AffinityTerm
	// Weight is that of a preferred term, else 0.
	Weight int32
	Counts Counts // how often workloads on each node have the term
}

// Counts is how many there are on each node.
type Counts interface {
	// Total is the sum over all nodes; more than 0.
	Total() int
	// AddTo adds the number on each node to sums[NodeInfo.Slot], which has
	// room for [Index].Slots.
	AddTo(sums []int32)
	// Each calls f for every node that has some.
	Each(f func(slot int32, count int32))
}

// Topology is which value of one label each node has, as small numbers: two
// nodes are in the same domain if they have the same number. It is shared and
// must not be changed.
type Topology struct {
	Key string // the label
	// Of is the number of the node's value, by slot; 0 for a node without the
	// label and for slots not in use.
	Of []int32
	// Values are the values by number, in the order in which they come up
	// when the nodes are visited; Values[0] is unused.
	Values []string
	// Nodes is how many nodes have the value, by number.
	Nodes []int32
}

// SumByDomain adds up counts by slot into sums by number of the value. Nodes
// without the label are added to sums[0]. len(sums) is len(Values).
func (t *Topology) SumByDomain(counts, sums []int32) {
	for slot, domain := range t.Of {
		sums[domain] += counts[slot]
	}
}
