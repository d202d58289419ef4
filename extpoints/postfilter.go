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

// PostFilterResult is what a PostFilter achieved; nil changes nothing.
type PostFilterResult struct {
	*NominatingInfo
}

// NominatingMode says what becomes of a workload's nomination.
type NominatingMode uint8

// The modes.
const (
	NominatingNoop     NominatingMode = iota // leave it as it is
	NominatingOverride                       // set it to Node, empty clears it
)

// NominatingInfo nominates a node: room on it is being made for the workload,
// and workloads of lower priority are kept from taking it.
type NominatingInfo struct {
	Node string
	Mode NominatingMode
}

// NodeStatuses says why each node was ruled out.
type NodeStatuses interface {
	// Get returns the status of the node; nodes that were never looked at have
	// the status that ruled them all out.
	Get(node string) *Status
	// WithCode lists, in visiting order, the nodes whose status has the code.
	WithCode(c Code) []*NodeInfo
}
