package extpoints

import "github.com/berth-project/berth/model"

// Groups is what a [ClusterView] knows of groups and their members. It is shared and
// must not be changed. Conformance: extpointstest.TestView.
type Groups interface {
	// Get returns the group with the ID, nil where there is none.
	Get(id string) *model.Group
	// Root returns the highest of the groups above the group, which may be
	// itself; nil where one of them is not there, or is not composite.
	Root(id string) *model.Group
	// Children lists the groups that have the group as their parent, in the
	// order of [model.Group.CompareAge].
	Children(id string) []*model.Group
	// Members counts the members of the group that have not ended: all of
	// them, and those that are on a node.
	Members(id string) (all, placed int)
	// Placed lists the members on nodes, by ID.
	Placed(id string) []PlacedMember
	// Pending lists the IDs of the members on no node, by ID.
	Pending(id string) []string
}

// PlacedMember is a member of a group on a node.
type PlacedMember struct {
	*WorkloadInfo
	Node string // name; the node need not be there
}

// GroupInfo is a group in its own cycle: the group and its members that are to
// be placed, in the order in which they are tried.
type GroupInfo struct {
	*model.Group
	// Members are the workloads to be placed; none for a composite group.
	Members []*WorkloadInfo
	// Children are the groups of a composite group, in the order of
	// [model.Group.CompareAge].
	Children []*GroupInfo
}

// All calls f for every member to be placed, also of the groups below, until
// it returns false; it reports whether it got to the end.
func (g *GroupInfo) All(f func(*WorkloadInfo) bool) bool {
	for _, w := range g.Members {
		if !f(w) {
			return false
		}
	}
	for _, child := range g.Children {
		if !child.All(f) {
			return false
		}
	}
	return true
}
