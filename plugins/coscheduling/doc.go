// Package coscheduling is the plugin Coscheduling: gangs by waiting. The members
// of a group with policy Gang are placed one by one like other workloads, but
// each then waits on Permit, with its node, until MinCount of them have one; the
// member that makes them enough lets all of them through. If one of them cannot
// be placed, all that wait are turned down at once.
//
// # When to use which
//
// Package gangscheduling decides about a group in one go and holds nothing
// meanwhile; it knows groups of groups, topology and preemption for the whole
// group. It is the better choice, and in the default profile. This plugin is not;
// it is for profiles without the other:
//
//   - where members come one after the other, so that there is no moment at which
//     the whole group could be decided about;
//   - where plugins or extenders must see the earlier members on their nodes, as
//     reserved, when they judge the next one;
//   - for those who know such gangs from elsewhere and want the same here.
//
// It must not be in one profile with a plugin that has PlacementFeasible. It
// serves all of its points, also as the queue's order, in place of PrioritySort;
// with another order it works as well, but gangs get in each other's way more
// often. As a PostFilter it belongs behind those that make room, so that members
// go on waiting as long as room is being made for one. It does not look at
// parents: every group is by itself. The members of a group should have the same
// priority.
//
// # What it does not let happen
//
// Two gangs that hold what the other one needs: the first member for which there
// is no node releases all that its own gang holds, and the gang stands back for
// [Args].Backoff.
//
// Gangs that hold room for long without using it: a member waits at most for
// [Args].PermitTimeout, and while a group does not have enough members, or stands
// back, they are rejected before they take any room.
//
// Half a gang: nobody is let through before MinCount members have a node, those
// that run included. Only what fails after that, a bind or another plugin's Permit,
// can leave fewer.
//
// A member that comes late, or is made anew, and waits for siblings that run
// already: one that makes the gang complete goes through at once.
//
// Changes that are slept through: whatever makes room for a member that found no
// node brings it back, and when it has a node the rest of its gang with it. If
// that comes while the gang stands back, the member is told an error and not a
// rejection, because what failed is tried again after a time by itself (see
// PreFilter). If a gang can do without those that found no node, because it has
// more members than it needs, the others go on.
//
// MinCount counts members that have not ended. A gang whose members end one after
// the other must have its MinCount lowered if those that fail are to run again.
package coscheduling
