// Package queuesort is the plugin PrioritySort: it orders the active queue by
// priority, and workloads of equal priority by how long they have been waiting.
//
// # Points
//
//	QueueSort
//
// # Events
//
//	none
//
// # Signature
//
//	none needed
//
// # Parity
//
// Rules: kube-scheduler plugins/queuesort/priority_sort.go, 1.37.1. No differences.
// Kubernetes calls the plugin's folder queuesort, too.
package queuesort
