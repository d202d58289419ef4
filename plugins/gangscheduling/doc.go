// Package gangscheduling is the plugin GangScheduling: the members of a group
// with policy Gang are placed together, at least MinCount of them or none.
//
// It holds a member back until the group is there and complete enough, tells the
// group's own cycle when a placement has enough members and when it cannot get
// them any more, and lets no member through Permit before enough of them have a
// node. A group with policy Basic counts as a gang of one.
//
// Groups of groups are ready when enough of their children are, from the
// highest group down. This is kube-scheduler's behaviour with its feature gate
// CompositePodGroup on; for a group without a parent it is the same with the
// gate off, and so are the texts. (The one that differs, for a group that is not
// there, is that of the gate at its default, off.)
//
// Because of its PlacementFeasible a profile with this plugin places groups as
// groups. For placing members one by one see package coscheduling.
//
// Rules: kube-scheduler plugins/gangscheduling/gangscheduling.go, 1.37.1.
package gangscheduling
