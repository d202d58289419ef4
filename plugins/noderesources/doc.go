// Package noderesources holds two plugins about resources.
//
// NodeResourcesFit rejects nodes without room for a workload, and scores nodes
// by how full they would be, in one of three ways: LeastAllocated spreads load
// over the nodes, MostAllocated packs it, and RequestedToCapacityRatio follows
// a curve.
//
// NodeResourcesBalancedAllocation prefers nodes on which the workload makes the
// resources more evenly used, so that none runs out while others lie idle.
//
// What counts as used differs, as in kube-scheduler. Filter and
// BalancedAllocation count what was requested. The scores of Fit count, for CPU
// and memory, the estimated load ([model.Workload.EstimatedLoad]), and what was
// requested for everything else.
//
// # Points
//
//	NodeResourcesBalancedAllocation:
//	  PreScore, Score
//	NodeResourcesFit:
//	  PreFilter, Filter, PreScore, Score, PlacementScore
//
// # Events
//
//	NodeResourcesBalancedAllocation:
//	  none
//	NodeResourcesFit:
//	  AssignedWorkload/Delete
//	  Node/Add|UpdateNodeAllocatable
//	  AssignedWorkload/UpdateWorkloadScaleDown
//	  TargetWorkload/UpdateWorkloadScaleDown
//	  DeviceClass/Add|Update
//
// # Signature
//
//	NodeResourcesBalancedAllocation:
//	  Requests
//	  EstimatedLoad
//	  FitLoad
//	NodeResourcesFit:
//	  Requests
//	  EstimatedLoad
//	  FitLoad
//
// FitLoad is signed only if it is set. NodeResourcesFit does not sign workloads that
// request a resource that a device class stands for.
//
// # Parity
//
// Rules: kube-scheduler plugins/noderesources/fit.go, balanced_allocation.go,
// least_allocated.go, most_allocated.go, requested_to_capacity_ratio.go and
// resource_allocation.go, 1.37.1. Amounts near the largest int64 wrap around there and
// stop at the limit here. With extpoints.Improved a departure wakes only workloads
// that fit on the node now; see extpoints.Compat. As in kube-scheduler, the hint for
// nodes does not leave out ignored resources.
package noderesources
