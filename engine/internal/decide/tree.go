package decide

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Tree is the group with those below it and their members that wait and have a profile, in
// the order in which they were submitted.
func (d *Decider) Tree(g *model.Group) *extpoints.GroupInfo {
	groups := d.Record.View.Groups()
	info := &extpoints.GroupInfo{Group: g}
	for _, child := range groups.Children(g.ID) {
		info.Children = append(info.Children, d.Tree(child))
	}
	var rows []*store.Workload
	for _, id := range groups.Pending(g.ID) {
		if row := d.Record.Workload(id); d.Profiles.Of(row.Info.Workload) != nil {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b *store.Workload) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, row := range rows {
		info.Members = append(info.Members, row.Info)
	}
	return info
}

// TreeEntity is the tree that the group is in, with its members that wait, as one thing that
// may be planned. The error says why it cannot be.
func (d *Decider) TreeEntity(group string) (*timeline.Entity, error) {
	root := d.Record.View.Groups().Root(group)
	if root == nil {
		return nil, fmt.Errorf("%w, or a group above it is not there", store.ErrNotFound)
	}
	tree := d.Tree(root)
	if FirstMember(tree) == nil {
		return nil, errors.New("no member of it is pending")
	}
	if err := d.CheckMembers(tree); err != nil {
		return nil, err
	}
	return &timeline.Entity{Tree: tree}, nil
}

// FirstMember is the first member of the tree, nil where it has none.
func FirstMember(g *extpoints.GroupInfo) (first *extpoints.WorkloadInfo) {
	g.All(func(w *extpoints.WorkloadInfo) bool {
		first = w
		return false
	})
	return first
}

// CheckMembers refuses a tree whose members do not agree, among each other and
// with the highest group, on what is decided for all of them. (kube-scheduler
// schedule_one_podgroup.go validatePodGroup, 1.37.1.)
func (d *Decider) CheckMembers(root *extpoints.GroupInfo) error {
	first := FirstMember(root)
	fw := d.Profiles.Of(first.Workload)
	var err error
	check := func(w *extpoints.WorkloadInfo) bool {
		switch {
		case d.Profiles.Of(w.Workload) != fw:
			err = fmt.Errorf("all workloads in a single group should have the same profile, got: %q and %q", w.Profile, first.Profile)
		case w.Priority != root.Priority:
			err = fmt.Errorf("all workloads in a single group should have the same priority as the group's priority, got %d and %d", w.Priority, root.Priority)
		case root.Preemption == "" && w.MayPreempt() != first.MayPreempt():
			err = fmt.Errorf("all workloads in a single group should have the same preemption policy, got %v and %v",
				policyName(w.Preemption), policyName(first.Preemption))
		case root.Preemption != "" && w.MayPreempt() != (root.Preemption != model.PreemptNever):
			err = fmt.Errorf("all workloads in a single group should have the same preemption policy as the group's preemption policy, got %v and %v",
				policyName(w.Preemption), root.Preemption)
		}
		return err == nil
	}
	if !root.All(check) {
		return err
	}
	var placed func(g *extpoints.GroupInfo)
	placed = func(g *extpoints.GroupInfo) {
		for _, m := range d.Record.View.Groups().Placed(g.ID) {
			if err == nil {
				check(m.WorkloadInfo)
			}
		}
		for _, child := range g.Children {
			placed(child)
		}
	}
	placed(root)
	return err
}

func policyName(p model.PreemptionPolicy) model.PreemptionPolicy {
	if p == "" {
		return model.PreemptLower
	}
	return p
}
