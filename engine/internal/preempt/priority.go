package preempt

import (
	"slices"

	"github.com/berth-project/berth/model"
)

// rank is the priority of the beneficiary, and whether it may displace others.
func (b *Book) rank(by Beneficiary) (int32, bool) {
	if by.Group != "" {
		g := b.rec.View.Groups().Root(by.Group)
		if g == nil {
			return 0, false
		}
		return g.Priority, b.groupMayPreempt(g)
	}
	row := b.rec.Workload(by.Workload)
	if row == nil {
		return 0, false
	}
	return row.Info.Priority, row.Info.MayPreempt()
}

// groupMayPreempt is [extpoints.GroupInfo.MayPreempt] of the members as they are now.
func (b *Book) groupMayPreempt(g *model.Group) bool {
	if g.Preemption != "" {
		return g.Preemption != model.PreemptNever
	}
	groups := b.rec.View.Groups()
	for _, id := range groups.Pending(g.ID) {
		if !b.rec.Workload(id).Info.MayPreempt() {
			return false
		}
	}
	return !slices.ContainsFunc(groups.Children(g.ID), func(child *model.Group) bool { return !b.groupMayPreempt(child) })
}

// standing is the priority that protects a workload: that of its highest group, where
// it is a member of one.
func (b *Book) standing(id string) int32 {
	row := b.rec.Workload(id)
	if row == nil {
		return 0
	}
	if root := b.rec.View.Groups().Root(row.Info.Group); root != nil {
		return root.Priority
	}
	return row.Info.Priority
}

// outdated reports whether the priorities that the evictions were decided on have
// changed, so that the last of them need not be right any more.
func (b *Book) outdated(p *preemption) bool {
	rank, may := b.rank(p.by)
	return !may || rank < p.rank || b.standing(p.rest[0].ID) > p.standing
}

// Waiter is the workload that room is made for, or one of the tree of groups that waits
// for a node; empty where there is none.
func (b *Book) Waiter(by Beneficiary) string {
	if by.Group != "" {
		return b.FirstPending(by.Group)
	}
	return by.Workload
}

// FirstPending is a member of the tree below the group that waits for a node; empty
// where there is none.
func (b *Book) FirstPending(group string) string {
	groups := b.rec.View.Groups()
	if pending := groups.Pending(group); len(pending) > 0 {
		return pending[0]
	}
	for _, child := range groups.Children(group) {
		if id := b.FirstPending(child.ID); id != "" {
			return id
		}
	}
	return ""
}
