package snapshot

import (
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// groups is what a View knows of groups. Children and members are kept whether
// the group is there or not.
type groups struct {
	byID     pmap[*model.Group]
	children lists[*model.Group] // by parent
	placed   memberSets[extpoints.PlacedMember]
	pending  memberSets[string] // IDs
}

// groupsView is a View as an [extpoints.Groups].
type groupsView View

var _ extpoints.Groups = (*groupsView)(nil)

// Groups are the groups and their members.
func (v *View) Groups() extpoints.Groups { return (*groupsView)(v) }

func (g *groupsView) Get(id string) *model.Group {
	group, _ := g.groups.byID.get(id)
	return group
}

func (g *groupsView) Root(id string) *model.Group {
	group := g.Get(id)
	// There are no circles, and no trees deeper than allowed, but a limit costs
	// nothing.
	for range model.MaxGroupDepth {
		if group == nil || group.Parent == "" {
			return group
		}
		if group = g.Get(group.Parent); group != nil && !group.Composite {
			return nil
		}
	}
	return nil
}

func (g *groupsView) Children(id string) []*model.Group { return g.groups.children.get(id) }

func (g *groupsView) Members(id string) (all, placed int) {
	placed = g.groups.placed.get(id).count
	return placed + g.groups.pending.get(id).count, placed
}

func (g *groupsView) Placed(id string) []extpoints.PlacedMember { return g.groups.placed.get(id).all() }

func (g *groupsView) Pending(id string) []string { return g.groups.pending.get(id).all() }

func byMember(a, b extpoints.PlacedMember) int { return strings.Compare(a.ID, b.ID) }

// PutGroup adds or replaces the group.
func (v *View) PutGroup(g *model.Group) {
	v.RemoveGroup(g.ID)
	v.groups.byID.set(v.own(), g.ID, g)
	if g.Parent != "" {
		v.groups.children.set(v.own(), g.Parent, g, (*model.Group).CompareAge)
	}
}

// RemoveGroup removes the group of the ID, if there is one.
func (v *View) RemoveGroup(id string) {
	old, ok := v.groups.byID.get(id)
	if !ok {
		return
	}
	v.groups.byID.unset(v.own(), id)
	if old.Parent != "" {
		v.groups.children.unset(v.own(), old.Parent, old, (*model.Group).CompareAge)
	}
}

// PlaceMember notes that a member of a group is on the node, or is there with
// another spec.
func (v *View) PlaceMember(w *extpoints.WorkloadInfo, node string) {
	v.groups.placed.set(v.own(), w.Group, extpoints.PlacedMember{WorkloadInfo: w, Node: node}, byMember)
}

// UnplaceMember notes that a member of a group is on no node any more.
func (v *View) UnplaceMember(w *extpoints.WorkloadInfo) {
	v.groups.placed.unset(v.own(), w.Group, extpoints.PlacedMember{WorkloadInfo: w}, byMember)
}

// AwaitMember notes that a member of a group waits for a node.
func (v *View) AwaitMember(w *extpoints.WorkloadInfo) {
	v.groups.pending.set(v.own(), w.Group, w.ID, strings.Compare)
}

// UnawaitMember notes that it does not any more.
func (v *View) UnawaitMember(w *extpoints.WorkloadInfo) {
	v.groups.pending.unset(v.own(), w.Group, w.ID, strings.Compare)
}
