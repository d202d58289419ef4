// Package lowriskovercommitment is the plugin LowRiskOverCommitment: workloads avoid nodes
// that may become overloaded since more was promised there than there is.
//
// For CPU and for memory the risk of a node is the weighted mean of two parts. The one is
// what may happen: how much of what the workloads may use beyond their requests is beyond what
// can be allocated, with the usage limits of all that are there and of this one. The other is
// what was measured, where it was: how probable it is that the load is more than the requests
// of those that are there, by a beta distribution with the average and the standard deviation
// of the load, given that it is at most the sum of their limits. A node scores by the greater
// of the risks. The load is what was measured last over the longest window, see
// [model.NodeLoad]. A workload without a usage limit is taken to use no more than it requests.
//
// A node of which nothing was measured, or nothing younger than MaxAge, scores 0, which is the
// worst; a resource that was not measured has only the other risk. All nodes score 0 for a
// workload that neither requests nor may use any CPU or memory.
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
// scheduler-plugins, pkg/trimaran/lowriskovercommitment and pkg/trimaran/resourcestats.go,
// commit 903da7df; as there, what is measured of a machine is taken as a part of what can be
// allocated on it. What is different:
//
//   - There a measurement is gone by for ever where no new one comes; here only if the engine
//     is to be like kube-scheduler 1.37.
//   - There which of several measurements of a node counts depends on their order.
//   - There a pod some of whose containers have a limit has their sum; here it has none.
//   - There the score is no number where nothing can be allocated on a node.
//   - Arguments that are out of range are refused, not replaced.
package lowriskovercommitment
