package extpoints

// PreFilterPlugin looks at the workload once, before any node is looked at: it
// may reject the workload, narrow the nodes down, or prepare its own Filter.
//
// Called on the scheduling goroutine, in the order of the profile; must not
// block. Codes: Success goes on. Skip goes on and leaves out the plugin's
// Filter and extensions in this cycle. Unschedulable rejects the workload, but
// the remaining PreFilters still run so that PostFilter finds their state; the
// last such status is the one reported. UnschedulableAndUnresolvable rejects it
// at once. Anything else is an error. After a rejection no
// Filter runs, and PostFilter is called. Conformance: extpointstest.TestPlugin.
type PreFilterPlugin interface {
	Plugin
	PreFilter(s *CycleState, w *WorkloadInfo) (*PreFilterResult, *Status)
}

// PreFilterResult narrows the nodes that are looked at; nil means all nodes.
// The results of several plugins are intersected.
type PreFilterResult struct {
	// Nodes are the names of the nodes to look at; nil means all.
	Nodes map[string]struct{}
}

// PreFilterExtensions is implemented by PreFilter plugins whose state depends
// on the workloads that are on the nodes, so that others can try out "what if
// this one were (not) there". Called on a cloned state, on any goroutine; must
// not block. Success or an error, nothing else.
type PreFilterExtensions interface {
	PreFilterPlugin
	// AddWorkload updates the state of w's cycle as if added were on the node.
	AddWorkload(s *CycleState, w, added *WorkloadInfo, node *NodeInfo) *Status
	// RemoveWorkload updates the state of w's cycle as if removed were gone.
	RemoveWorkload(s *CycleState, w, removed *WorkloadInfo, node *NodeInfo) *Status
}
