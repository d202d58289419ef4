// Package noderesourcesfitplus is the plugin NodeResourcesFitPlus: a workload prefers nodes by how
// full they would be, with a strategy for each resource. Of one it prefers nodes where most is
// used, of another nodes where least is; for example GPUs are packed, and CPU is spread.
//
// Only resources count that the workload asks for. Where it asks for none of them, all nodes
// score the same. As in NodeResourcesFit what counts of CPU and memory is the estimated load
// ([model.Workload.EstimatedLoad]).
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
// kube-scheduler has no such plugin; it has one strategy for all resources. The rules are those of
// Koordinator, pkg/scheduler/plugins/noderesourcefitplus, commit a7a1b76b. There a strategy that does not
// exist scores 0, and what a workload needs besides its containers counts in whole cores.
package noderesourcesfitplus
