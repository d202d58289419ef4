package model

import (
	"cmp"
	"strings"
	"time"
)

// GroupPolicy says how the members of a group depend on each other.
type GroupPolicy string

// The group policies; the empty value means Basic.
const (
	Basic GroupPolicy = "Basic" // as many members as there is room for
	Gang  GroupPolicy = "Gang"  // at least MinCount members, or none
)

// DisruptionMode says what is lost when one member is displaced.
type DisruptionMode string

// The disruption modes; the empty value means DisruptSingle.
const (
	DisruptSingle DisruptionMode = "Single" // the one member
	DisruptAll    DisruptionMode = "All"    // the whole group
)

// Group ties workloads together that are decided on together.
type Group struct {
	// ID is the group's identity, unique among groups.
	ID        string
	Namespace string // for messages, and for the orchestrator
	// Name is for messages, and decides between groups of one parent that were
	// made at the same time; several groups may share it. Empty: ID.
	Name string
	// Parent is the ID of the group that this one is a child of, or empty.
	Parent string
	// Composite: its members are groups, those that have it as Parent, and
	// not workloads.
	Composite bool
	Policy    GroupPolicy // empty: Basic
	// MinCount is the smallest number of members (for a group of groups:
	// children) that make a Gang; at least 1 for a Gang, else 0.
	MinCount int32
	// MinResources is what all nodes together must have left before the members of a Gang
	// are tried one by one. None: nothing. Only the plugin Coscheduling looks at it.
	MinResources Resources `json:",omitzero"`
	// PermitTimeout is how long a member of a Gang that has a node waits on Permit for the
	// others. 0: as long as the plugin's arguments say. Only the plugin Coscheduling looks
	// at it.
	PermitTimeout time.Duration `json:",omitzero"`
	// TopologyKey, where not empty, is the key of a node label, [ByNode] or
	// [ByZone]: all members go to nodes of one domain.
	TopologyKey string
	// DeviceClaims are claims that all members share; see
	// [DeviceClaimRef].OfGroup.
	DeviceClaims []DeviceClaimRef
	// Priority is that of the group as a whole; higher goes first. Of the highest group of a
	// tree it must be the priority of all its members, or the tree is not tried.
	Priority int32
	// Preemption says whether the members may displace others, who must say the
	// same. Of the groups above each other the highest one's counts. Empty: the
	// members decide, who must agree among each other.
	Preemption PreemptionPolicy
	Disruption DisruptionMode // empty: DisruptSingle
	CreatedAt  time.Time      // by its orchestrator's clock; an older group goes first
}

// MaxGroupDepth is how many groups may be above each other, the highest and the
// lowest included (kube-scheduler: a Workload's tree, 1.37.1).
const MaxGroupDepth = 4

// DisplayName is what messages call the group.
func (g *Group) DisplayName() string {
	if g.Name == "" {
		return g.ID
	}
	return g.Name
}

// CompareAge is the order of the groups of one parent: by time of creation, then
// by name, then by ID.
func (g *Group) CompareAge(o *Group) int {
	return cmp.Or(g.CreatedAt.Compare(o.CreatedAt), strings.Compare(g.DisplayName(), o.DisplayName()), strings.Compare(g.ID, o.ID))
}
