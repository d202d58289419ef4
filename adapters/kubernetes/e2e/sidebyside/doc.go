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
// small machine.
package sidebyside
