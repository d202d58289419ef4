// Package tainttoleration is the plugin TaintToleration: a workload avoids nodes with
// taints that it does not tolerate, and prefers nodes with fewer PreferNoSchedule
// taints that it does not tolerate. A toleration can name a value, accept any value, or
// compare numbers; see [model.Toleration].
//
// # Points
//
//	Filter, PreScore, Score, ScoreNormalizer
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
// Rules: kube-scheduler plugins/tainttoleration/taint_toleration.go, 1.37.1. No
// differences.
package tainttoleration
