// Package loadawarescheduling is the plugin LoadAwareScheduling: workloads stay off nodes that
// are busier than a threshold, and prefer those that are less busy, by what was measured, and
// by an estimate of what the measurement does not have yet.
//
// A workload is estimated to use a part of its usage limit, or of its request where that is
// more. On a node that was measured it is counted with its estimate where it was not measured
// by itself, or was placed after the measurement began; where it was measured and the
// estimate is more, the difference is added. What was just placed counts at once, whatever
// placed it. The load of a node is its last measurement, see [model.NodeLoad], over the
// shortest window or, where Aggregated says so, another, in amounts of what the machine has,
// compared with what can be allocated. A resource that was not measured so is estimated from
// all workloads on the node.
//
// What a workload used counts until the next measurement where it has left since, unless
// WithoutLeft takes it off at once.
//
// A node without a measurement passes the filter, as if the plugin were not there, and scores
// 0, which is the worst. So does one with a measurement of MaxAge or older score; it is
// rejected by the filter, unless AllowExpired lets it pass or KeepExpired goes by what was
// last known. That a measurement grows old wakes nobody, nor that the clock comes to the time
// of one that was ahead of it; that a new one comes does, if it can help. A plan for a later time goes by the loads of the present: where a node is too
// busy now, nothing is reserved there.
//
// # Points
//
//	Filter, Score
//
// # Events
//
//	NodeLoad/Delete|Update
//	AssignedWorkload/Delete|Update
//	Node/Add|UpdateNodeAllocatable
//	TargetWorkload/Update
//
// # Signature
//
//	Requests
//	UsageLimits
//
// # Parity
//
// kube-scheduler has no such plugin. The rules are those of Koordinator, pkg/scheduler/
// plugins/loadaware, commit a7a1b76b. What is different:
//
//   - A report that has nothing of a resource there means that none is used; here it is
//     estimated.
//   - There a new measurement wakes all that were rejected; here those that it can help.
//   - Not built are what goes by Koordinator's classes of priority (thresholds and scores of
//     production workloads, resources of batch and mid ones), by annotations of nodes and
//     workloads, by when a workload was initialised, and that those of a DaemonSet pass the
//     filter.
package loadawarescheduling
