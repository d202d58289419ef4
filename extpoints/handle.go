package extpoints

import "github.com/hashicorp/go-hclog"

// Handle is what a plugin gets of the engine it works in. It is given to the
// plugin's New and may be kept. All methods may be called from any
// goroutine once the engine is made, but not from New (Logger,
// Profile and Compat apart). The points from PreFilter to Reserve also run on branches and
// for explanations: there a plugin must not act on Waiting or call Activate, but
// ask through the [CycleState].
type Handle interface {
	// Logger is for what an operator should know; nothing is logged per node.
	Logger() hclog.Logger
	// Profile is the name of the profile that the plugin serves.
	Profile() string
	// Compat says which wake-ups the plugin is to ask for.
	Compat() Compat
	// Orchestrator is the one in the engine's configuration.
	Orchestrator() Orchestrator
	// Waiting are the workloads that wait on Permit, of all profiles.
	Waiting() WaitingWorkloads
	// Activate asks that waiting workloads be tried at once; see
	// [CycleState.Activate]. It takes effect when the engine is done with
	// what it is doing.
	Activate(ids ...string)
	// Preemption is for plugins that make room for workloads.
	Preemption() Preemption
	// View is the cluster as it is now, for points that are given no
	// [CycleState]: PreEnqueue, QueueSort, Sign, hints, Unreserve and, where it is
	// about more than the workload's own cycle, Permit. Only to be called there,
	// and not to be kept.
	View() ClusterView
}

// Preemption is what a plugin that displaces workloads needs of the engine. The
// first three are for trying things out on a cloned state and a cloned node,
// and may be called from any goroutine; UnderWay is for PreEnqueue.
type Preemption interface {
	// RunFilters runs the profile's filters for the workload on the node, once
	// with the workloads nominated to the node that it may not displace and
	// once without, and returns the first rejection, nil where there is none.
	RunFilters(s *CycleState, w *WorkloadInfo, node *NodeInfo) *Status
	// AddWorkload tells the profile's PreFilter extensions that added is on
	// the node. The caller has added it to the node already.
	AddWorkload(s *CycleState, w, added *WorkloadInfo, node *NodeInfo) *Status
	// RemoveWorkload tells them that removed is gone from it.
	RemoveWorkload(s *CycleState, w, removed *WorkloadInfo, node *NodeInfo) *Status
	// Extenders are those that have a say in who is displaced: with name,
	// ignorability, Interested and Preempt.
	Extenders() []Extender
	// UnderWay reports whether evictions that were asked for to make room for
	// the workload with the ID have not been accepted yet.
	UnderWay(id string) bool
}
