// Package noderesourcetopologymatch is the plugin NodeResourceTopologyMatch: workloads stay off
// nodes that would refuse them because no single NUMA zone has all that they request, and
// prefer nodes whose zones suit them.
//
// What a node has left in each zone is reported, see [model.NodeTopology]. The filter looks at
// nodes whose policy is AlignSingleZone. With scope AlignWorkload one zone must serve the
// workload as a whole; with AlignContainer each of its parts goes to the first zone that can
// serve it, and takes from it what later parts cannot have. Startup parts leave what they had. A
// workload that is not guaranteed what it requests ([model.Guaranteed]) shares CPU, memory and huge
// pages with others, and needs a zone only for its other resources, devices above all.
// What no zone has belongs to the node as a whole.
//
// # What is not in the report yet
//
// Workloads that were placed since the report was made count too. In which zone each is going
// to be is not known, so what it gets for itself counts in all of them ([OverReserve]), until a
// report has it. That may keep out what would fit, for a short time, and never gives
// anything twice. What is on the node comes from the view, so it is right on branches
// and in plans, and nothing is kept that could differ from it. One that is in the report and was
// placed after it was made has come back to the node, and counts as one that is not in it.
//
// A report may say what workloads use of each zone. Where preemption takes one of them off
// the node to try something out, that comes back. Of others it is not known what would
// come back, and nothing does: nobody is displaced in vain. Where room is made for a
// group, nothing comes back either.
//
// Without a report a node passes the filter, as if the plugin were not there, and scores 0,
// which is the worst. With one older than [Args].MaxAge it is rejected, and scores 0. That a
// report grows old wakes nobody, nor that the clock comes to the time of one that was ahead of
// it; that one changes does, if it can help.
//
// # Scores
//
// Workloads that are not guaranteed what they request score 100 on every node. LeastAllocated,
// MostAllocated and BalancedAllocation look at nodes with policy AlignSingleZone and others score
// 0; a node's score is the least of its zones' that is above 0, and the mean over the parts.
// LeastNUMANodes looks at all that have a report, and prefers those of which fewer zones are
// needed, and then closer ones. Of more than twelve zones it does not look at all
// combinations, but takes the first that are enough.
//
// # Points
//
//	Filter, Score
//
// # Events
//
//	NodeTopology/Delete|Update
//	AssignedWorkload/Delete|Update
//	Node/Add|UpdateNodeAllocatable
//	TargetWorkload/Update
//
// # Signature
//
//	Requests
//	Parts
//
// # Parity
//
// kube-scheduler has no such plugin. The rules are those of kubernetes-sigs/
// scheduler-plugins, pkg/noderesourcetopology, commit 903da7df. With
// extpoints.KubeScheduler137 it does as that does by default, in the points marked *:
//
//   - There a node's report is taken as it is, and what was placed since is given twice (*).
//   - There a node without CPU or memory in its zones takes nobody who requests it (*), and so it is
//     with what has a name in kubernetes.io.
//   - There a part of a core counts as a whole one in scores (*). Where zones are counted
//     startup parts keep what they had (*), and who requests something of no zone scores 0 (*),
//     and who needs more zones than a node may have less than that, which fails the cycle.
//     The balance of a single resource is undefined, and IDs with gaps end the process.
//   - There what is requested with 0 counts in scores, and what a pod requests as a whole does
//     not; a guaranteed container that requests nothing ends the process. The overhead of a pod
//     counts in no container; here in the one of a workload that is not said to have several,
//     of which it is also said that the container cannot be aligned, where there it is a startup one.
//   - There containers that run beside the others from the start on are not counted against
//     them, and the whole of a workload counts them as if they ended; here they are parts like
//     others.
//   - There what was placed lately counts, where it does, with all that it requests; here with
//     what it gets for itself. What has left the node comes back with the next report, there
//     and here.
//   - There a report that comes after the start is not seen, a placement of zones may be of
//     another time than the amounts, and pods of other schedulers keep a node closed. Here a
//     report is one object.
package noderesourcetopologymatch
