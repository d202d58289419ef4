// Package nodeports is the plugin NodePorts: a workload that needs host ports goes to
// a node on which they are free.
//
// # Points
//
//	PreFilter, Filter
//
// # Events
//
//	AssignedWorkload/Delete
//	Node/Add
//
// # Signature
//
//	HostPorts
//
// # Parity
//
// Rules: kube-scheduler plugins/nodeports/node_ports.go, 1.37.1. No differences in
// verdicts. The ports of a pod's containers are collected by the translation. The
// signature also has addresses and protocols, because the verdict depends on them.
package nodeports
