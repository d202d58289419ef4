// Package holds is the plugin NodeHolds: it keeps workloads off nodes that are set aside
// by a hold, see [model.Hold].
//
// A workload is taken to run from the time of the cycle on for its Limit, or for ever where
// it has none. It may not go to a node with a hold that overlaps this interval, unless the
// hold lets it in: it is one of the Users, and runs wholly inside the hold or the hold is of
// the Flex kind. Where several holds are on a node each must let it in. PreFilter skips
// workloads that no hold concerns, so that the plugin costs nothing where there are none.
//
// A hold of amounts leaves the rest of its nodes to others. Whom it does not let in may go there where,
// as long as it runs, there is room for it, for what is there, and for what those whom such holds let in
// have not taken yet of what is kept for them. A workload takes from one of those that let it in, the first
// by name. It counts what workloads request; places, ports,
// devices and volumes are not kept.
//
// What is on a node when a hold begins stays there. It is for the orchestrator to end it, or
// for the one who makes the hold to look at the limits of what runs.
//
// A hold begins and ends without an event. The engine makes one of it in Tick: an update of
// the hold, with the same object before and after.
//
// # Points
//
//	PreFilter, Filter
//
// # Events
//
//	Hold/Delete|Update
//	Node/Add|UpdateNodeAllocatable|UpdateNodeLabel
//	AssignedWorkload/Delete|UpdateWorkloadLabel|UpdateWorkloadScaleDown
//	TargetWorkload/UpdateWorkloadLabel|UpdateWorkloadScaleDown
//
// # Signature
//
//	Labels
//	Requests
//	Limit
//
// # Parity
//
// kube-scheduler has no such plugin. It is not in the default profile.
package holds
