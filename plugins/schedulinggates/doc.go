// Package schedulinggates is the plugin SchedulingGates: it keeps a workload out of
// the active queue until the last of its scheduling gates is removed.
//
// # Points
//
//	PreEnqueue
//
// # Events
//
//	TargetWorkload/UpdateWorkloadGatesEliminated
//
// # Signature
//
//	none needed
//
// # Parity
//
// Rules: kube-scheduler plugins/schedulinggates/scheduling_gates.go, 1.37.1. No
// differences.
package schedulinggates
