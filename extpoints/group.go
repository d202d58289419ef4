package extpoints

import "github.com/berth-project/berth/model"

// Groups is what a [View] knows of groups and their members. It is shared and
// must not be changed. Conformance: extpointstest.TestView.
type Groups interface {
	// Get returns the group of the ID, nil where there is none.
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

// MayPreempt reports whether the group may displace others: by its own policy, or
// where it has none by that of the members to be placed.
func (g *GroupInfo) MayPreempt() bool {
	if g.Preemption != "" {
		return g.Preemption != model.PreemptNever
	}
	return g.All(func(w *WorkloadInfo) bool { return w.MayPreempt() })
}

// Placement is a set of nodes that a whole group may be placed on.
type Placement struct {
	Name  string
	Nodes []*NodeInfo // in visiting order
}

// Proposal is a node proposed for a member of a group, in a try.
type Proposal struct {
	Workload *WorkloadInfo
	Binding  model.Binding
	// State is that of the member's cycle.
	State *CycleState
}

// Assignments are the nodes proposed for the members of a group within one
// placement, in the order in which the members were tried. Members without a
// node are not in it.
type Assignments struct {
	Placement *Placement
	Proposals []Proposal
}

// PlacementGeneratePlugin lists the placements to try for a group, within its
// parent's (for the highest group: all nodes). At most one is enabled. Called on
// the scheduling goroutine; must not block. s belongs to the group's cycle; its
// view has those members of other groups of the tree that were tried before.
// Success; a rejection makes the group unschedulable; anything else is an
// error. Without such a plugin the parent's placement is the only one.
type PlacementGeneratePlugin interface {
	Plugin
	GeneratePlacements(s *CycleState, g *GroupInfo, parent *Placement) ([]Placement, *Status)
}

// PlacementProgress counts the members of a group in the course of a try (for a
// composite group: the groups in it).
type PlacementProgress struct {
	Scheduled int // members that have a node, those from before included
	Remaining int // members that were not tried yet
}

// PlacementFeasiblePlugin says, before the first member and after each, whether
// it is worth going on with a placement. Success: it would do as it is. Wait:
// not yet. Unschedulable ends the try; anything else is an error. It is asked once
// more, with none remaining, where Reserve or Permit has turned members down.
// Called on the scheduling goroutine; must not block.
//
// A profile that has such a plugin places groups as groups; in one without, the
// members of groups are placed one by one like other workloads.
type PlacementFeasiblePlugin interface {
	Plugin
	PlacementFeasible(s *CycleState, g *GroupInfo, p PlacementProgress) *Status
}

// PlacementScorePlugin says how good a placement is for a group; scores are
// treated like those of [ScorePlugin]. Called on the scheduling goroutine, only
// where there are several feasible placements; must not block.
type PlacementScorePlugin interface {
	Plugin
	ScorePlacement(s *CycleState, g *GroupInfo, a *Assignments) (int64, *Status)
}

// PlacementScoreNormalizer is the [ScoreNormalizer] of placements.
type PlacementScoreNormalizer interface {
	PlacementScorePlugin
	NormalizePlacementScore(s *CycleState, g *GroupInfo, scores []int64) *Status
}

// GroupPostFilterPlugin is the [PostFilterPlugin] of a group for which no
// placement is feasible. Called on the scheduling goroutine, in the order of
// the profile, with the highest group of the tree. What it wants displaced it
// asks for with [CycleState.Evict]. Success and UnschedulableAndUnresolvable
// end the round; Unschedulable asks the next plugin; anything else is an error.
// Whatever it says, this cycle of the group ends as unschedulable.
type GroupPostFilterPlugin interface {
	Plugin
	GroupPostFilter(s *CycleState, g *GroupInfo, t GroupTrial) (*GroupPostFilterResult, *Status)
}

// GroupPostFilterResult is what a GroupPostFilter achieved: a nomination for
// each member by ID. Those without one lose theirs, where there is a result.
type GroupPostFilterResult struct {
	Nominations map[string]*NominatingInfo
}

// Refusal is a node that a filter has turned down, and what it said.
type Refusal struct {
	Node   *model.Node
	Status *Status
}

// GroupTrial is a copy of the cluster, of the plugin's own, on which it can try
// the group again with workloads gone. It starts as the cluster is; nothing that
// is done to it is seen outside, and it ends with the call it was given for. It
// is used on the scheduling goroutine, by one caller at a time.
//
// What comes back after Schedule needs no copy of the cluster: that is tried out
// on copies of single nodes and on the states of the proposals, with
// [Preemption]. (kube-scheduler does it on its whole snapshot, framework/
// preemption/podgrouppreemption.go, 1.37.1.)
type GroupTrial interface {
	// Refused lists the nodes that the Filter of the GroupPostFilter plugin of
	// the name has turned down for the member in the cycle that is about to end,
	// as far as it was asked; false where the member's PreFilter, or an earlier
	// member, ended it before.
	Refused(workload, plugin string) ([]Refusal, bool)
	// View is the copy as it is now. What it returned holds until Remove.
	View() View
	// Remove takes the workloads off the nodes that they are on, all at once.
	// They need not be members of groups.
	Remove(list []PlacedMember)
	// Schedule runs the group's cycle on the copy, PostFilter left out, and
	// leaves the copy as it was. The states of the proposals are the caller's
	// from then on, and as after the member's filters: nothing is reserved in
	// them.
	Schedule() (*Assignments, *Status)
	// Watches reports whether it may matter to the proposal what is on other
	// nodes: whether any PreFilter extension takes part in the member's cycle.
	// Where none does, AddWorkload and RemoveWorkload of [Preemption] do
	// nothing, and what the filters say of a node depends on that node alone.
	Watches(p *Proposal) bool
	// Reserve returns the proposal's workload as it would be on the node,
	// which is a copy of the caller's, with what the Reserve plugins decide for
	// it there; where one of them fails, with nothing decided. The node, the
	// state and the copy stay as they are.
	Reserve(p *Proposal, node *NodeInfo) *WorkloadInfo
}
