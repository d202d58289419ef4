package snapshot

import (
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// PutGroup adds or replaces the group.
func (v *View) PutGroup(g *model.Group) {
	v.RemoveGroup(g.ID)
	v.groups.byID.set(v.own(), g.ID, g)
	if g.Parent != "" {
		v.groups.children.set(v.own(), g.Parent, g, (*model.Group).CompareAge)
	}
}

// RemoveGroup removes the group with the ID, if there is one.
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
	v.ownMembers()
	v.groups.placed.set(v.own(), w.Group, extpoints.PlacedMember{WorkloadInfo: w, Node: node}, byMember)
}

// UnplaceMember notes that a member of a group is on no node any more.
func (v *View) UnplaceMember(w *extpoints.WorkloadInfo) {
	v.ownMembers()
	v.groups.placed.unset(v.own(), w.Group, extpoints.PlacedMember{WorkloadInfo: w}, byMember)
}

// AwaitMember notes that a member of a group waits for a node.
func (v *View) AwaitMember(w *extpoints.WorkloadInfo) {
	v.ownMembers()
	v.groups.pending.set(v.own(), w.Group, w.ID, strings.Compare)
}

// UnawaitMember notes that it does not any more.
func (v *View) UnawaitMember(w *extpoints.WorkloadInfo) {
	v.ownMembers()
	v.groups.pending.unset(v.own(), w.Group, w.ID, strings.Compare)
}

// MoveMember notes that a member, which waits for a node unless it is unknown, is on the node. A
// member must not be moved twice.
func (v *View) MoveMember(w *extpoints.WorkloadInfo, node string) {
	if _, _, waits := v.groups.pending.get(w.Group).find(w.ID, strings.Compare); !waits {
		v.PlaceMember(w, node)
		return
	}
	v.groups.moved = v.groups.moved.push(extpoints.PlacedMember{WorkloadInfo: w, Node: node})
}

// ownMembers brings the sets up to date, for a patch of them.
func (v *View) ownMembers() {
	for m := v.groups.moved; m != nil; m = m.before {
		v.groups.pending.unset(v.own(), m.member.Group, m.member.ID, strings.Compare)
		v.groups.placed.set(v.own(), m.member.Group, m.member, byMember)
	}
	v.groups.moved = nil
}
