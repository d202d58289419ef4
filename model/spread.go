package model

// SpreadMode says what happens where a spread constraint cannot be kept.
type SpreadMode string

// The modes of a spread constraint.
const (
	SpreadRequired  SpreadMode = "Required"  // the node is not feasible
	SpreadPreferred SpreadMode = "Preferred" // the node scores lower
)

// InclusionPolicy says whether nodes that the workload could not use anyway
// count as part of the topology.
type InclusionPolicy string

// The inclusion policies; the empty value means the default of its field.
const (
	Honor  InclusionPolicy = "Honor"  // only usable nodes count
	Ignore InclusionPolicy = "Ignore" // all nodes count
)

// SpreadConstraint keeps the selected workloads evenly spread over the domains
// of TopologyKey.
type SpreadConstraint struct {
	// TopologyKey is the key of a node label, [ByNode] or [ByZone]. A node without
	// the label is not feasible where Mode is SpreadRequired.
	TopologyKey string
	// MaxSkew is the largest allowed difference between the count in one
	// topology value and the smallest count in any; at least 1.
	MaxSkew int32
	Mode    SpreadMode // what happens where it cannot be kept
	// Selector says which workloads of the same namespace are counted.
	Selector *Selector
	// MinDomains, where not 0, is the number of topology values below which
	// the smallest count is taken as 0. Only with SpreadRequired.
	MinDomains int32
	// NodeAffinityPolicy defaults to Honor, NodeTaintsPolicy to Ignore.
	NodeAffinityPolicy InclusionPolicy
	NodeTaintsPolicy   InclusionPolicy // whether nodes count whose taints the workload does not tolerate
	// MatchLabelKeys are labels of the workload whose values are added to the
	// selector.
	MatchLabelKeys []string
}
