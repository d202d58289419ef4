package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// GroupDecision is what the cycle of a tree of groups came to.
type GroupDecision struct {
	// Root is the highest group of the tree.
	Root string
	// Placed: the tree is placed; not necessarily all of its members.
	Placed bool
	// Message is the one-line summary of why it is not.
	Message string
	// Members are the decisions about the members that were tried, in that
	// order; those of a tree that is not placed have no node.
	Members []Decision
	// Nominations are the nodes that GroupPostFilter nominated, by member, and
	// Evictions what it wants displaced, where the tree is not placed.
	Nominations map[string]string
	Evictions   []extpoints.Eviction
}

// ScheduleGroup runs the cycle of the tree of groups that the group is in, for
// the pending members on the branch, and puts those that get a node there, all
// or nothing as the groups want it. Members are tried in the order in which they
// were submitted. What holds members back from the queue (PreEnqueue) is not
// asked. That the tree does not fit is not an error; groups that are not there,
// members that do not agree, and a plugin that fails are.
func (b *Branch) ScheduleGroup(now time.Time, group string) (GroupDecision, error) {
	c := b.core
	root := c.rec.View.Groups().Root(group)
	if root == nil {
		return GroupDecision{}, fmt.Errorf("schedule group %q on a branch: %w, or a group above it is not there", group, ErrNotFound)
	}
	d := GroupDecision{Root: root.ID}
	tree := c.tree(root)
	first := firstMember(tree)
	if first == nil {
		return d, nil
	}
	if err := c.checkMembers(tree); err != nil {
		return d, fmt.Errorf("schedule group %q on a branch: %w", group, err)
	}
	fw := c.framework(first.Workload)
	fork := c.fork()
	try := &groupTry{core: fork, now: now, fw: fw}
	result := try.try(tree)
	c.rejoin(fork)
	d.Placed, d.Message = result.status.IsSuccess(), result.status.Message()
	if result.status.Code() == extpoints.Unschedulable && fw.HasGroupPostFilter() {
		if st := b.groupPostFilter(&d, fw, result, now); st.Code() == extpoints.Error {
			return d, fmt.Errorf("schedule group %q on a branch: %w", group, st.AsError())
		}
	}
	if d.Placed {
		if st := b.commitGroup(result.chosen(nil), now); st != nil {
			return d, fmt.Errorf("schedule group %q on a branch: %w", group, st.AsError())
		}
	}
	result.each(func(m *cycle, placed bool) {
		one := m.outcome(m.result)
		if !placed {
			one.Binding = model.Binding{}
		}
		d.Members = append(d.Members, one)
	})
	if result.status.Code() == extpoints.Error {
		return d, fmt.Errorf("schedule group %q on a branch: %w", group, result.status.AsError())
	}
	return d, nil
}

// tree is the group with those below it and the members that wait.
func (c *core) tree(g *model.Group) *extpoints.GroupInfo {
	groups := c.rec.View.Groups()
	info := &extpoints.GroupInfo{Group: g}
	for _, child := range groups.Children(g.ID) {
		info.Children = append(info.Children, c.tree(child))
	}
	var rows []*store.Workload
	for _, id := range groups.Pending(g.ID) {
		rows = append(rows, c.rec.Workload(id))
	}
	slices.SortFunc(rows, func(a, b *store.Workload) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, row := range rows {
		info.Members = append(info.Members, row.Info)
	}
	return info
}

// each calls f for every member that was tried, and says whether it keeps the
// node that was found for it.
func (r *groupResult) each(f func(c *cycle, placed bool)) {
	var walk func(r *groupResult, failed bool)
	walk = func(r *groupResult, failed bool) {
		failed = failed || !r.status.IsSuccess()
		for _, child := range r.children {
			walk(child, failed)
		}
		for _, c := range r.members {
			f(c, !failed && c.result.IsSuccess())
		}
	}
	walk(r, false)
}

// groupPostFilter asks what would be displaced; nothing is.
func (b *Branch) groupPostFilter(d *GroupDecision, fw *framework.Framework, last *groupResult, now time.Time) *extpoints.Status {
	fork := b.core.fork()
	t := &groupTry{core: fork, now: now, fw: fw}
	tree := last.group
	state := t.state(tree, nil)
	found, st := fw.GroupPostFilter(state, tree, &groupTrial{core: fork, now: now, fw: fw, root: tree, last: last})
	b.core.rejoin(fork)
	d.Message += ", " + st.Message()
	d.Evictions = state.Evictions()
	if found != nil {
		d.Nominations = map[string]string{}
		for id, n := range found.Nominations {
			d.Nominations[id] = n.Node
		}
	}
	return st
}

// commitGroup is the branch's own: nothing is told to anybody, and nothing is
// reserved for real.
func (b *Branch) commitGroup(chosen []*cycle, now time.Time) *extpoints.Status {
	tx := b.core.rec.Begin()
	for _, c := range chosen {
		if _, err := tx.Assume(c.binding, now); err != nil {
			tx.Abort()
			return extpoints.AsStatus(err)
		}
	}
	b.core.rec.Commit(tx)
	return nil
}
