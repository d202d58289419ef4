// Package decisionlevel compares whole histories: nodes and pods come, change and
// go, and both sides schedule whatever their queues give out, with preemption,
// nominations and disruption budgets.
//
// The reference goes through its own ScheduleOne, so that its failure handler,
// its queue and its preemption take part; see package reference. Compared are,
// after each cycle: which pod it was, its node, how many nodes were evaluated and
// found feasible, the message byte for byte, the plugins that rejected it, the
// victims in their order, and the nomination of every pod.
//
// Cases may be about storage, devices or groups besides ([About]). Compared is
// also what was decided about volumes and claims, and, of a group, what happens to
// each member.
//
// Where the reference is random both are kept from the choice: start times are
// all different, so that preemption has no ties; all nodes are tried for
// preemption; node affinity names at most one node; at most one disruption budget
// protects a pod; no two things happen at the same time. Random there are also
// the order in which nodes are tried for preemption, where fewer are wanted than
// there are, and its beginning.
package decisionlevel
