// Package coscheduling is the plugin Coscheduling: gangs by waiting. The members
// of a group with policy Gang are placed one by one like other workloads, but
// each then waits on Permit, with its node, until MinCount of them have one; the
// member that completes the gang lets all of them through. If one of them cannot be
// placed, all that wait are rejected at once.
//
// # When to use which
//
// Package gangscheduling decides about a whole group at once and reserves nothing in
// the meantime; it supports groups of groups, topology, and preemption for the whole
// group. It is the better choice, and part of the default profile. Use this plugin, in
// a profile without the other,
//
//   - if members arrive one after the other, so that the whole group can never be
//     decided about at once;
//   - if plugins or extenders must see earlier members as reserved on their nodes when
//     they judge the next one;
//   - if you want gangs to behave as with the scheduler-plugins project.
//
// It must not be in one profile with a plugin that has PlacementFeasible. It
// serves all of its points, also as the queue's order, in place of PrioritySort;
// with another order it works as well, but gangs conflict more often. As a PostFilter it
// belongs after plugins that preempt, so that members keep waiting while victims of a
// sibling leave. It ignores parents: every group is on its own. The members of a group
// should have the same priority.
//
// # What it prevents
//
// Deadlock of two gangs, each of which holds what the other needs: the first member
// that finds no node releases everything that its gang holds, and the gang backs off
// for [Args].Backoff.
//
// Reservations that are held for long without use: a member waits for at most
// [Args].PermitTimeout, or as long as its group says. While a group has too few members, or backs off, its members
// are rejected before they reserve anything.
//
// Tries that cannot succeed: with [model.Group].MinResources no member is tried while all nodes
// together have less than that left.
//
// Work that is thrown away because of a few: with [Args].RejectPercentage those that wait keep
// their nodes, for as long as they wait, if only so many still lack one.
//
// Preemption in vain: before others are displaced for a member, the engine tries whether MinCount
// members would get a node if all that are less important were gone ([extpoints.CompanionsPlugin]). Members
// displace one by one, so this does not promise that all find room in the end; but
// one that had room made for it and lost it displaces nobody again for an hour
// ([extpoints.Futility]).
//
// Half a gang: Permit lets no member through before MinCount members have a node,
// including those that run. Only a failure after that, of a bind or of another
// plugin's Permit, can leave fewer.
//
// A late or recreated member that waits for siblings that run already: a member that
// completes the gang goes through at once.
//
// Lost wake-ups: an event that lets a member in that found no node wakes it, and once
// it has a node, the rest of its gang too. If the event comes while the gang backs off,
// the member gets an error instead of a rejection, because a workload with an error is
// retried after a time without an event (see PreFilter). If the gang has more members
// than it needs, it goes on without those that found no node.
//
// MinCount counts members that have not ended. A gang whose members end one after
// the other must have its MinCount lowered if those that fail are to run again.
//
// # Points
//
//	QueueSort, PreFilter, PostFilter, Reserve, Permit
//
// # Events
//
//	UnscheduledWorkload/Add
//	AssignedWorkload/Add
//	Group/Add
//	Group/Update
//	AssignedWorkload/Delete|UpdateWorkloadScaleDown
//	Node/Add|UpdateNodeAllocatable
//
// # Signature
//
//	none: its profiles have no signatures
//
// # Parity
//
// kube-scheduler has no such plugin in its tree. The plugin of this name in the
// scheduler-plugins project waits on Permit, too. [Args].RejectPercentage is its
// podGroupRejectPercentage, which is 10 there by default, and MinResources of a group its
// minResources; commit 903da7df. There a node on which more is requested than it has adds to
// what is missing, a group that was let through once is not asked again, and nothing but time
// wakes one that lacked something. There members with scheduling gates do not count among those
// that a group needs; here they do, and the others wait for them on Permit.
//
// There the groups of equal priority whose last try failed stand behind the others, so that one
// which fits nowhere holds up nobody. Here nobody is held up: a group stands back for a while
// after a try that failed, and is not tried again before something has changed for it. So its place in
// the queue is by when it was created, and does not change while it waits.
package coscheduling
