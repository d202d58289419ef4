package extpoints

// PostFilterPlugin is called when no node is feasible, to make one feasible:
// above all by displacing other workloads.
//
// Called on the scheduling goroutine, in the order of the profile; it must not
// block for long. Success and UnschedulableAndUnresolvable end the round;
// Unschedulable and Pending ask the next plugin; anything else is an error. Whatever it
// says, this cycle of the workload ends as unschedulable, and the result may
// nominate a node for a later one. Conformance: extpointstest.TestPlugin.
type PostFilterPlugin interface {
	Plugin
	PostFilter(s *CycleState, w *WorkloadInfo, statuses NodeStatuses) (*PostFilterResult, *Status)
}

// PostFilterResult says what happens to a workload's nomination. A nominated node is
// one on which room is being made for the workload: workloads of lower priority are kept
// from taking it. A nil result, and the zero value, say nothing: an earlier nomination then
// holds for as long as room is being made (evictions for the workload are under way, or one that
// was displaced is still leaving the node), and is given up otherwise. With [KubeScheduler137] it
// stays as it is.
type PostFilterResult struct {
	// Nominate is the node to nominate the workload to.
	Nominate string
	// Clear: it is nominated to none any more. Nominate is empty then.
	Clear bool
}

// NodeStatuses says why each node was ruled out.
type NodeStatuses interface {
	// Get returns the status of the node; nodes that were never looked at have
	// the status that ruled them all out.
	Get(node string) *Status
	// WithCode lists, in visiting order, the nodes whose status has the code.
	WithCode(c Code) []*NodeInfo
}
