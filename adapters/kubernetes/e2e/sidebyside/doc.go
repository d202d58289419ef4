// Package sidebyside measures schedulers end to end: the real kube-scheduler and
// berth-scheduler, one after the other, each over a control plane of its own that is
// made the same way, on the same machine and in the same run. What counts are the
// ratios: figures of one machine say little about another's.
//
// A run creates nodes, pods that are on nodes already, and the pods that are
// measured; then it starts the scheduler, and watches through the API when each pod
// gets its node. From the scheduler itself it reads how long attempts took, and from
// the system what CPU time and memory it used. [Ceiling] is what the API server
// takes from clients that do nothing but bind.
//
// The shapes of the workloads are those of upstream's scheduler_perf
// (k8s.io/kubernetes test/integration/scheduler_perf, 1.37.1), at sizes that suit a
// small machine: its counts in proportion to the number of nodes that is asked for,
// and no more than 5,000 measured pods. A [Workload] is a row of a table: which nodes,
// pods and other objects there are, and what goes on meanwhile; it is in the file of
// what it is about. Nothing else differs from one to the other. Unlike upstream, all
// measured pods are there when the scheduler starts, so that nothing but the scheduler
// and what goes on beside it is at work while it is measured.
//
// Not here are the cases that differ from one of these only by a feature gate or by a
// size; those that count no pods (PublishResourceSlices); and those of gates that are
// alpha and that Berth refuses (CompatibilityGroups, list attributes).
package sidebyside
