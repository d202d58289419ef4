// Package loadvariationriskbalancing is the plugin LoadVariationRiskBalancing: it balances
// the risk that nodes are overloaded, which is the greater the busier a node is, and the more
// its load varies. An idle node scores best.
//
// For CPU and for memory, each where it was measured, the risk is the mean of two parts of
// what can be allocated: the average load with what the workload requests, and the standard
// deviation, which Margin and Sensitivity make count more or less. A node scores by the
// greater of the risks. The load is what was measured last over the longest window, see
// [model.NodeLoad]. What was placed since is not counted.
//
// A node without a measurement of either, or with one that is older than MaxAge, scores 0,
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
//	EstimatedLoad
//	FitLoad
//
// # Parity
//
// kube-scheduler has no such plugin. The rules are those of kubernetes-sigs/
// scheduler-plugins, pkg/trimaran/loadvariationriskbalancing and pkg/trimaran/
// resourcestats.go, commit 903da7df; as there, what is measured of a machine is taken as a
// part of what can be allocated on it. What is different:
//
//   - There a measurement is gone by for ever where no new one comes; here only if the engine
//     is to be like kube-scheduler 1.37.
//   - There which of several measurements of a node counts depends on their order.
//   - Arguments that are out of range are refused, not replaced.
package loadvariationriskbalancing
