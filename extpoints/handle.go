package extpoints

import "github.com/hashicorp/go-hclog"

// Handle is what a plugin gets of the engine it works in. It is given to the
// plugin's factory and may be kept. All methods may be called from any
// goroutine once the engine is made, but not from a factory (Logger and
// Profile apart). The points from PreFilter to Reserve also run on branches and
// for explanations: there a plugin must not act on Waiting or call Activate, but
// ask through the [CycleState].
type Handle interface {
	// Logger is for what an operator should know; nothing is logged per node.
	Logger() hclog.Logger
	// Profile is the name of the profile that the plugin serves.
	Profile() string
	// Orchestrator is the world outside.
	Orchestrator() Orchestrator
	// Waiting are the workloads that wait on Permit, of all profiles.
	Waiting() WaitingWorkloads
	// Activate asks that waiting workloads be tried at once; see
	// [CycleState.Activate]. It takes effect when the engine is done with
	// what it is doing.
	Activate(ids ...string)
	// RunFilters runs the profile's filters for the workload on the node, once
	// with the workloads nominated to the node that it may not displace and
	// once without, and returns the first rejection. For trying things out on
	// a cloned state and a cloned node.
	RunFilters(s *CycleState, w *WorkloadInfo, node *NodeInfo) *Status
}
