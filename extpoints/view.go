package extpoints

import "github.com/berth-project/berth/model"

// ClusterView is the cluster at one moment, read only. What it returns is shared and
// must not be changed. Conformance: extpointstest.TestView.
type ClusterView interface {
	// Nodes are the nodes and what is on them.
	Nodes() Nodes
	// Nominated lists the workloads that wait for room on the node, which
	// other workloads of lower priority must leave them; see
	// [PostFilterResult].
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
	// Holds lists all holds by name, past and future ones, too.
	Holds() []*model.Hold
	// NodeLoad returns what was last measured on the node, nil where nothing was. It may be
	// of any age.
	NodeLoad(node string) *model.NodeLoad
	// NodeTopology returns what was last reported of the node's NUMA zones, nil where
	// nothing was. It may be of any age.
	NodeTopology(node string) *model.NodeTopology
	// AppGraph returns the application graph, nil where there is none.
	AppGraph(id string) *model.AppGraph
	// NetworkCosts returns the costs of the network, nil where there are none of the name.
	NetworkCosts(name string) *model.NetworkCosts
	// Index finds the workloads on the nodes by what they are.
	Index() Index
}

// Nodes is the ordered list of nodes of a [ClusterView].
type Nodes interface {
	// Len is the number of nodes.
	Len() int
	// At returns the i-th node in visiting order: round robin over zones in
	// order of arrival (kube-scheduler pkg/scheduler/backend/cache/
	// node_tree.go, 1.37.1).
	At(i int) *NodeInfo
	// Get returns the node with the name, nil where there is none.
	Get(name string) *NodeInfo
	// WithAffinity lists, in visiting order, the nodes on which some workload
	// has affinity or anti-affinity terms of any kind.
	WithAffinity() []*NodeInfo
	// WithRequiredAntiAffinity lists, in visiting order, the nodes on which
	// some workload has required anti-affinity terms.
	WithRequiredAntiAffinity() []*NodeInfo
}
