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
// verdicts, except that a port is held by each of those that were put on it from outside
// ([extpoints.NodeInfo]; [extpoints.KubeScheduler137] does as the reference). The ports of a pod's containers are collected by the translation. The
// signature also has addresses and protocols, because the verdict depends on them.
package nodeports
