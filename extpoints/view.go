package extpoints

import "github.com/berth-project/berth/model"

// View is the cluster at one moment, read only. What it returns is shared and
// must not be changed. Conformance: extpointstest.TestView.
type View interface {
	// Nodes are the nodes and what is on them.
	Nodes() Nodes
	// Nominated lists the workloads that wait for room on the node, which
	// other workloads of lower priority must leave them; see
	// [NominatingInfo].
	Nominated(node string) []*WorkloadInfo
	// Namespace returns the namespace's object, nil where there is none.
	Namespace(name string) *model.Namespace
	// Groups are the groups and their members.
	Groups() Groups
	// Storage are the volumes and the claims to them.
	Storage() Storage
	// Devices are the device slices and the claims to them.
	Devices() Devices
	// Budgets lists all budgets, by ID.
	Budgets() []*model.Budget
	// Index finds the workloads on the nodes by what they are.
	Index() Index
}

// Nodes is the ordered list of nodes of a [View].
type Nodes interface {
	// Len is the number of nodes.
	Len() int
	// At returns the i-th node in visiting order: round robin over zones in
	// order of arrival (kube-scheduler pkg/scheduler/backend/cache/
	// node_tree.go, 1.37.1).
	At(i int) *NodeInfo
	// Get returns the node of the name, nil where there is none.
	Get(name string) *NodeInfo
	// WithAffinity lists, in visiting order, the nodes on which some workload
	// has affinity or anti-affinity terms of any kind.
	WithAffinity() []*NodeInfo
	// WithRequiredAntiAffinity lists, in visiting order, the nodes on which
	// some workload has required anti-affinity terms.
	WithRequiredAntiAffinity() []*NodeInfo
}
