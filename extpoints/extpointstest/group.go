package extpointstest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// GroupSituation is a question to a plugin at a point of groups: how can this
// group be placed?
type GroupSituation struct {
	Name  string               // for people; may be empty
	Group *extpoints.GroupInfo // with those below it and the members to be placed
	// View has the group, the groups below it, and their members.
	View *View
}

// NewGroupSituation makes a situation of a group and nodes. The view's groups
// and waiting members are those of g.
func NewGroupSituation(g *extpoints.GroupInfo, nodes ...*extpoints.NodeInfo) *GroupSituation {
	s := &GroupSituation{Group: g, View: NewView(nodes...)}
	s.enter(g)
	return s
}

func (s *GroupSituation) enter(g *extpoints.GroupInfo) {
	s.View.GroupList = append(s.View.GroupList, g.Group)
	for _, m := range g.Members {
		s.View.PendingMembers = append(s.View.PendingMembers, m.Workload)
	}
	for _, child := range g.Children {
		s.enter(child)
	}
}

// Cycle makes the group's cycle in the situation.
func (s *GroupSituation) Cycle() *extpoints.Cycle {
	return extpoints.NewCycle(extpoints.CycleOptions{View: s.View, Now: Now, Seed: 1, Group: s.Group})
}

// State makes the state of the group's cycle in the situation.
func (s *GroupSituation) State() *extpoints.CycleState { return s.Cycle().State() }

// member makes the state of the cycle of a member of the group.
func (s *GroupSituation) member() *extpoints.CycleState {
	return extpoints.NewCycle(extpoints.CycleOptions{View: s.View, Now: Now, Seed: 1, Trial: true, Group: s.Group, Shared: s.State()}).State()
}

// All is the placement of all nodes.
func (s *GroupSituation) All() *extpoints.Placement {
	return &extpoints.Placement{Nodes: slices.Clone(s.View.NodeInfos)}
}

// members lists the members to be placed, also of the groups below.
func (s *GroupSituation) members() []*extpoints.WorkloadInfo {
	var list []*extpoints.WorkloadInfo
	s.Group.All(func(w *extpoints.WorkloadInfo) bool { list = append(list, w); return true })
	return list
}

// String prints the objects of the situation, one a line.
func (s *GroupSituation) String() string {
	var b strings.Builder
	if s.Name != "" {
		fmt.Fprintf(&b, "  situation %q\n", s.Name)
	}
	for _, g := range s.View.GroupList {
		fmt.Fprintf(&b, "  group %+v, waiting: %q\n", *g, s.View.Groups().Pending(g.ID))
	}
	for _, n := range s.View.NodeInfos {
		fmt.Fprintf(&b, "  node %s %v %+v\n", n.Node.Name, n.Node.Labels, n.Node.Allocatable)
		for _, w := range n.Workloads {
			fmt.Fprintf(&b, "    has %s of group %q, %+v\n", w.ID, w.Group, w.Requests)
		}
	}
	return b.String()
}

// RandomGroupSituation makes a situation with the nodes of [RandomSituation] and
// a group, or a tree of groups, that has members on some of them.
func RandomGroupSituation(r *rand.Rand) *GroupSituation {
	g := randomGroup(r, "g", one(r, 3))
	s := NewGroupSituation(g, RandomSituation(r).View.NodeInfos...)
	if one(r, 2) {
		return s
	}
	leaves := []string{"g", "g-0", "g-1"}
	for i := range 1 + r.IntN(2) {
		node := pick(r, s.View.NodeInfos).Clone()
		info := randomPlaced(r, node.Node.Name, fmt.Sprintf("placed%d", i), node)
		info.Group = pick(r, leaves)
		node.AddWorkload(info)
		(&Situation{View: s.View}).replace(node)
	}
	return s
}

func randomGroup(r *rand.Rand, id string, composite bool) *extpoints.GroupInfo {
	g := &extpoints.GroupInfo{Group: &model.Group{
		ID: id, Composite: composite, Policy: model.Basic, Priority: r.Int32N(3),
		TopologyKey: pick(r, []string{"", "zone", "disk", "generation", model.ByZone}), CreatedAt: Now.Add(-time.Hour),
	}}
	if one(r, 2) {
		g.Policy, g.MinCount = model.Gang, 1+r.Int32N(4)
	}
	for i := range r.IntN(3) + 1 {
		child := fmt.Sprintf("%s-%d", id, i)
		if composite {
			g.Children = append(g.Children, randomGroup(r, child, false))
			g.Children[i].Parent = id
			continue
		}
		w := randomWorkload(r, child)
		w.Group, w.Priority, w.NodeName, w.Gates = id, g.Priority, "", nil
		g.Members = append(g.Members, &extpoints.WorkloadInfo{Workload: w})
	}
	return g
}

// RandomAssignments proposes nodes of the placement for members of the group,
// for at least one if there are any of both.
func RandomAssignments(r *rand.Rand, s *GroupSituation, p *extpoints.Placement) *extpoints.Assignments {
	a := &extpoints.Assignments{Placement: p}
	for _, w := range s.members() {
		if len(p.Nodes) > 0 && (len(a.Proposals) == 0 || !one(r, 3)) {
			b := model.Binding{Workload: w.ID, Node: pick(r, p.Nodes).Node.Name}
			a.Proposals = append(a.Proposals, extpoints.Proposal{Workload: w, Binding: b, State: s.member()})
		}
	}
	return a
}
