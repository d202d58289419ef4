package extpoints

import "github.com/berth-project/berth/model"

// Placement is a set of nodes that a whole group may be placed on.
type Placement struct {
	// Name tells the placements of one group apart. The plugin that generates them chooses it.
	Name  string
	Nodes []*NodeInfo // in visiting order
}

// Proposal is a node proposed for a member of a group, in a try.
type Proposal struct {
	Workload *WorkloadInfo // the member
	Binding  model.Binding // its node, and what Reserve plugins have added to it
	// State is that of the member's cycle.
	State *CycleState
}

// Assignments are the nodes proposed for the members of a group within one
// placement, in the order in which the members were tried. Members without a
// node are not in it.
type Assignments struct {
	Placement *Placement // the nodes that the group was tried on
	Proposals []Proposal // the members that have a node there
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
// more, with none remaining, where Reserve or Permit has rejected members.
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
// Whatever it says, this cycle of the group ends as unschedulable. Of several results of
// plugins that do not end the round the last one counts.
type GroupPostFilterPlugin interface {
	Plugin
	GroupPostFilter(s *CycleState, g *GroupInfo, t GroupTrial) (*GroupPostFilterResult, *Status)
}

// GroupPostFilterResult is what a GroupPostFilter achieved: what happens to
// each member's nomination, by ID. Those that are not there lose theirs, where there is a
// result. A nil result says nothing of any member; see [PostFilterResult].
type GroupPostFilterResult struct {
	Nominations map[string]PostFilterResult // by the member's ID
}

// Refusal is a node that a filter has rejected, and what it said.
type Refusal struct {
	Node   *model.Node // that was rejected
	Status *Status     // what the filter said, with the plugin's name
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
	// the name has rejected for the member in the cycle that is about to end,
	// as far as it was asked; false where the member's PreFilter, or an earlier
	// member, ended it before.
	Refused(workload, plugin string) ([]Refusal, bool)
	// ClusterView is the copy as it is now. What it returned holds until Remove.
	View() ClusterView
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
