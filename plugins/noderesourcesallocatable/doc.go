// Package noderesourcesallocatable is the plugin NodeResourcesAllocatable: a workload
// prefers nodes that are small, or large, by what can be allocated on them in all. What
// is used of it, and what the workload asks for, does not count. It keeps large nodes free
// for what needs them, or the other way round.
//
// # Points
//
//	Score, ScoreNormalizer
//
// # Events
//
//	none
//
// # Signature
//
//	nothing
//
// # Parity
//
// kube-scheduler has no such plugin. The rules are those of kubernetes-sigs/
// scheduler-plugins, pkg/noderesources/allocatable.go and resource_allocation.go, commit
// 903da7df. There a weighted sum that no int64 can hold wraps around; here it stays at
// the limit, unless the engine is to be like kube-scheduler 1.37.
package noderesourcesallocatable
