// Package sidebyside measures what a scheduling decision costs kube-scheduler
// and Berth: both cores in one process, the same cluster, the same pods, no API
// server.
//
// # One decision
//
// Of kube-scheduler: Cache.UpdateSnapshot, SchedulePod, a copy of the pod (which
// its ScheduleOne makes too) and Cache.AssumePod; where the pod fits nowhere,
// RunPostFilterPlugins. The pod's QueuedPodInfo is made beforehand, as its queue
// would. Left out are its queue, Reserve, Permit, metrics of the cycle, and all
// that comes after a failure.
//
// Of Berth: Raw.Schedule, that is the queue, the snapshot, the decision, Reserve,
// Permit and the transaction that records the decision; where the workload fits
// nowhere, PostFilter, its way back to the queue and its nomination. Submitting
// is left out.
//
// Rows about devices have Reserve on both sides, because what one pod is given is
// not there for the next.
//
// Where the decision is about a group, kube-scheduler's whole cycle counts, from the
// snapshot on: the group tried in the snapshot, each member assumed, Reserve and
// Permit, the group's condition, and the start of the goroutines that bind. Those
// are held until the decisions are over, and what the API server would do with the
// condition is left out. Gates are those of kube-scheduler's own benchmarks: with
// trees of groups (CompositePodGroup) its queue takes minutes to put a gang of a
// thousand together, which is no part of the decision. Costs are for each member.
//
// So whatever is not the same is counted on Berth's side only. Victims are not
// evicted, and what a batch of decisions has placed is taken away after it,
// outside of the time, so that the cluster stays as it is.
//
// # Fairness
//
// Both run their default profile.
// Both filter and score on one goroutine: parallelism 1 and Workers 1. More would
// compare how two cores are shared, on a machine that may have no more, and is
// no good measure of work: kube-scheduler's own default of 16 goroutines costs
// more CPU for each decision, not less. Opportunistic batching, which answers for
// pods that are alike without deciding, is off.
//
// The two take turns, a batch each. Garbage is collected between the turns, so
// that neither pays for the other's, and a few decisions at the beginning of a
// turn do not count, since the other has had the caches of the processor.
// [Measure] counts processor time, which hardly depends on what else the machine
// does, and takes the median of the batches; the benchmark of the module counts
// the time that passes, as benchmarks do. A test sees to it that both sides make
// the same decisions in every row.
package sidebyside
