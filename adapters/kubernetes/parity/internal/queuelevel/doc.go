// Package queuelevel compares the scheduling queues: the same sequence of events
// moves the same pods between the same parts of the queue at the same times.
//
// A case is a random history. Pods and nodes come, change and go, pods are held
// and gated, attempts end in every possible way, pods wait on Permit and at Bind
// while other things happen, bindings fail, and time passes: a little, to the
// next whole second, for minutes. After each event every pod is looked at on both
// sides: in which part of the queue it is, attempts, rejections, consecutive
// errors, the plugins that rejected it, those that are pending, the one that
// gates it, since when it waits, the end of its backoff, whether it timed out;
// and who is nominated to each node. At each attempt both must take out the same
// pod.
//
// On the side of the reference it is the real queue of a real scheduler: see
// package reference. What changes in the cluster comes in through its event
// handlers, so that it derives its events itself, and PreEnqueue plugins and
// queueing hints are the real ones. In most histories it runs its own ScheduleOne
// and its own binding cycles, with a few scripted plugins beside the real ones
// (see script.go), and Berth runs its whole engine with the counterparts. In the
// others the bare queues are compared: pods are taken out, several at a time, and
// go back with whatever plugins the history names; the events that Berth's queue
// is given are those that package queue derives.
//
// # Where the reference is random
//
// It offers an event to waiting pods in the order of a map. So no two pods enter
// the queue at the same time, except in histories of ties, where no event wakes
// several. It asks PreEnqueue plugins in the order of a map, so no pod is turned
// away by two.
//
// # Where the two differ, and what is left out for it
//
//   - kube-scheduler takes no notice of a change of a pod that is on its way to a
//     node until its binding is confirmed or has failed (eventhandlers.go
//     updatePodInSchedulingQueue). For Berth it is a fact at once: others hear of
//     it, room is counted anew, and if Permit turns the workload down the change
//     counts as one that happened during its attempt. Such changes are not made.
//   - Where a pod that is nominated to one node goes to another, kube-scheduler
//     does not tell others that the room kept for it is free (eventhandlers.go
//     deletePodFromSchedulingQueue names the issue); Berth does, unless it is
//     told to do as kube-scheduler does, which it is here. Pods that somebody else
//     binds go where they are nominated.
//   - With the feature NominatedNodeNameForExpectation kube-scheduler nominates a
//     pod that waits on Permit to its node, in its status, and takes that back if
//     it is rejected, which is an event that may wake the pod itself. Berth
//     keeps no nomination of what has a node. The feature is off.
//   - With SchedulerPopFromBackoffQ off, a pod whose change is two events may end
//     in two places in kube-scheduler (scheduling_queue.go Update). There changes
//     are of one kind.
package queuelevel
