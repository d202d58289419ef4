// Package nodedeclaredfeatures is the plugin NodeDeclaredFeatures: a workload that
// needs features goes to nodes that declare all of them.
//
// # Points
//
//	PreFilter, Filter
//
// # Events
//
//	Node/Add|UpdateNodeFeatures
//	TargetWorkload/Update
//
// # Signature
//
//	Features
//
// # Parity
//
// Rules: kube-scheduler plugins/nodedeclaredfeatures/nodedeclaredfeatures.go, 1.37.1.
// No differences in verdicts. Which features a pod needs is inferred by the
// translation.
package nodedeclaredfeatures
