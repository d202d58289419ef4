// Package nodename is the plugin NodeName: a workload that names its node gets that
// node or none.
//
// # Points
//
//	PreFilter, Filter
//
// # Events
//
//	Node/Add
//
// # Signature
//
//	NodeName
//
// # Parity
//
// Rules: kube-scheduler plugins/nodename/node_name.go, 1.37.1. No differences.
package nodename
