package extpoints

// FilterPlugin says whether a workload can go to a node.
//
// Called for each node that is looked at, from several goroutines at once, in
// the order of the profile until the first plugin that does not say Success;
// must not block, write to the state, or depend on which other nodes were
// looked at. Codes: Success; a rejection (Unschedulable,
// UnschedulableAndUnresolvable, Pending) rules the node out; anything else
// aborts the cycle with an error. Conformance: extpointstest.TestPlugin.
type FilterPlugin interface {
	Plugin
	Filter(s *CycleState, w *WorkloadInfo, node *NodeInfo) *Status
}
