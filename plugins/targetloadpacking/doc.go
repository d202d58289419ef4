// Package targetloadpacking is the plugin TargetLoadPacking: workloads are packed onto nodes
// whose CPU is busy, but not busier than a target. A node scores best where the workload
// takes its load just to the target; the further below the lower, and beyond the target much
// lower still.
//
// The load of a node is what was measured last over the longest window, see
// [model.NodeLoad], what the workload is predicted to use, and what those are predicted to
// use that were placed less than a minute before the measurement ended, or later. A
// workload is predicted to use its usage limit of CPU, else its request times a factor, else
// an amount for those that request nothing.
//
// A node without a measurement of its CPU, or with one that is older than MaxAge, scores 0,
// which is the worst.
//
// # Points
//
//	Score
//
// # Events
//
//	none
//
// # Signature
//
//	Requests
//	UsageLimits
//
// # Parity
//
// kube-scheduler has no such plugin. The rules are those of kubernetes-sigs/
// scheduler-plugins, pkg/trimaran/targetloadpacking/targetloadpacking.go and
// pkg/trimaran/handler.go, commit 903da7df. What is different:
//
//   - There a measurement is gone by for ever where no new one comes; here only if the engine
//     is to be like kube-scheduler 1.37.
//   - There all workloads on the nodes count as just placed when the scheduler is started; here
//     it goes by when they were placed. What counts as just placed is forgotten by a timer
//     there, and a node whose entries are all old keeps them.
//   - There which of several measurements of a node counts depends on their order.
//   - There all profiles have the arguments of the one that is made last.
//   - There each container is predicted by itself, and overhead is added to the prediction;
//     here a workload is one, and its usage limit includes overhead.
//   - Arguments that are out of range are refused, not replaced.
package targetloadpacking
