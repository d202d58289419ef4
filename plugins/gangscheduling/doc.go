// Package gangscheduling is the plugin GangScheduling: the members of a group
// with policy Gang are placed together, at least MinCount of them or none.
//
// It holds a member back until the group is there and complete enough, tells the
// group's own cycle when a placement has enough members and when it cannot get
// them any more, and lets no member through Permit before enough of them have a
// node. A group with policy Basic counts as a gang of one.
//
// Groups of groups are ready when enough of their children are, from the
// highest group down.
//
// Because of its PlacementFeasible a profile with this plugin places groups as
// groups. For placing members one by one see package coscheduling.
//
// # Points
//
//	PreEnqueue, Permit, PlacementFeasible
//
// # Events
//
//	UnscheduledWorkload/Add
//	AssignedWorkload/Add
//	Group/Add
//	Group/Update
//
// # Signature
//
//	none needed
//
// # Parity
//
// Rules: kube-scheduler plugins/gangscheduling/gangscheduling.go, 1.37.1, with its
// feature gate CompositePodGroup on. For a group without a parent the gate makes no
// difference, in texts either; only the text for a group that does not exist is that of
// the gate's default, off. The engine fails the whole tree if the final Reserve rejects
// one member.
package gangscheduling
