// Package nodeunschedulable is the plugin NodeUnschedulable: nodes that are marked
// unschedulable take no new workload, except those that tolerate it.
//
// # Points
//
//	Filter
//
// # Events
//
//	Node/Add|UpdateNodeTaint
//	TargetWorkload/UpdateWorkloadToleration
//
// # Signature
//
//	Tolerations
//
// # Parity
//
// Rules: kube-scheduler plugins/nodeunschedulable/node_unschedulable.go, 1.37.1. No
// differences. The reference also has a PreFilter, which concerns only pods that are
// on a node already.
package nodeunschedulable
