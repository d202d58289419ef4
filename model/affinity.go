package model

// NodeTerm selects nodes by labels and by fields: everything in it must hold.
// A term with neither selects no node, wherever it stands.
type NodeTerm struct {
	Labels []Requirement // conditions on the labels of the node
	// Fields are conditions on the node itself; Key is [FieldName], Operator
	// is In or NotIn with exactly one value.
	Fields []Requirement
}

// IsEmpty reports whether the term has no requirement at all.
func (t *NodeTerm) IsEmpty() bool { return len(t.Labels) == 0 && len(t.Fields) == 0 }

// Matches reports whether every requirement of the term holds for the node. An
// empty term matches no node, and nor does a term with a requirement that is
// not valid.
func (t *NodeTerm) Matches(n *Node) bool {
	if t.IsEmpty() {
		return false
	}
	for i := range t.Fields {
		if !t.Fields[i].matchesField(n) {
			return false
		}
	}
	return matchesAll(t.Labels, n.Labels)
}

// PreferredNodeTerm adds Weight to the score of the nodes that its term
// matches. An empty term matches no node, so it changes nothing.
type PreferredNodeTerm struct {
	Weight int32 // 1 to 100
	NodeTerm
}

// NodeAffinity says which nodes a workload must have and which it likes.
type NodeAffinity struct {
	// Required, where not nil, must hold: at least one of its terms matches.
	// A non-nil list without terms matches no node (and is not valid).
	Required  *NodeTerms
	Preferred []PreferredNodeTerm // each term that matches a node adds its weight to the score
}

// NodeTerms is a list of alternatives.
type NodeTerms struct {
	Terms []NodeTerm // at least one must match
}

// Matches reports whether one of the terms matches the node. A nil *NodeTerms
// is no condition and matches every node.
func (t *NodeTerms) Matches(n *Node) bool {
	if t == nil {
		return true
	}
	for i := range t.Terms {
		if t.Terms[i].Matches(n) {
			return true
		}
	}
	return false
}

// AffinityTerm names other workloads and a topology: "near" (or "away from")
// means that the two nodes are in the same domain of TopologyKey.
type AffinityTerm struct {
	// Selector says which workloads are meant; nil means none.
	Selector *Selector
	// Namespaces and NamespaceSelector say where they live; the two are
	// united. Where both are empty the term speaks of the namespace of the
	// workload that carries it. A NamespaceSelector without requirements
	// means all namespaces.
	Namespaces        []string
	NamespaceSelector *Selector // see Namespaces; nil selects none
	// TopologyKey is the key of a node label, [ByNode] or [ByZone]. Nodes without
	// the label are near nothing, and away from everything.
	TopologyKey string
}

// WeightedAffinityTerm is a preference of the given weight.
type WeightedAffinityTerm struct {
	Weight int32 // 1 to 100
	AffinityTerm
}

// WorkloadAffinity draws a workload towards others, or, as
// [Workload].AntiAffinity, keeps it away from them.
type WorkloadAffinity struct {
	Required  []AffinityTerm         // each must hold
	Preferred []WeightedAffinityTerm // each changes the score by its weight
}
