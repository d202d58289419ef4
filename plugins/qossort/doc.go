// Package qossort is the plugin QOSSort: it orders the active queue by priority, then by
// class of service, and workloads equal in both by how long they have been waiting.
//
// Guaranteed comes before Burstable, and that before BestEffort; see
// [model.Workload.QoSClass]. A tree of groups has the class of the member that stands for
// it in the queue.
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
// kube-scheduler has no such plugin. The rules are those of kubernetes-sigs/
// scheduler-plugins, pkg/qos/queue_sort.go, commit 903da7df. No differences; groups are not
// known there.
package qossort
