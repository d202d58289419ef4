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
package noderesources
