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
// Rules: kube-scheduler plugins/nodename/node_name.go, 1.37.1. No differences in
// verdicts. With extpoints.Improved a workload whose node is not there is told so by
// PreFilter, with the node's name, and waits for that node; in kube-scheduler it is told that
// no node satisfied the plugin, and any new one wakes it.
package nodename
