package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
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
	// Nominations are the nodes that GroupPostFilter nominated, by the member's ID, where the
	// tree is not placed.
	Nominations map[string]string
	// Evictions are whom GroupPostFilter wants displaced for it. On a branch nobody is.
	Evictions []extpoints.Eviction
}

// ScheduleGroup runs the cycle of the tree of groups that the group is in, for
// the pending members on the branch, and puts those that get a node there, all
// or nothing as the groups want it. Members are tried in the order in which they
// were submitted. What holds members back from the queue (PreEnqueue) is not
// asked. That the tree does not fit is not an error; groups that are not there,
// members that do not agree, and a plugin that fails are.
func (b *Branch) ScheduleGroup(now time.Time, group string) (GroupDecision, error) {
	root := b.decider.Record.View.Groups().Root(group)
	if root == nil {
		return GroupDecision{}, fmt.Errorf("schedule group %q on a branch: %w, or a group above it is not there", group, ErrNotFound)
	}
	d := GroupDecision{Root: root.ID}
	tree := b.decider.Tree(root)
	if decide.FirstMember(tree) == nil {
		return d, nil
	}
	if err := b.decider.CheckMembers(tree); err != nil {
		return d, fmt.Errorf("schedule group %q on a branch: %w", group, err)
	}
	a := b.decider.AttemptGroup(now, tree, branchPort{b: b})
	if err := b.carryOut(a); err != nil {
		return d, fmt.Errorf("schedule group %q on a branch: %w", group, err)
	}
	d.fill(a)
	if a.Result.Status.Code() == extpoints.Error {
		return d, fmt.Errorf("schedule group %q on a branch: %w", group, a.Result.Status.AsError())
	}
	return d, nil
}

// fill says what the attempt came to.
func (d *GroupDecision) fill(a *decide.Attempt) {
	d.Placed, d.Message = a.Result.Status.IsSuccess(), a.Result.Status.Message()
	if !d.Placed {
		d.Evictions = a.Requests().Evictions
	}
	if a.Nominations != nil {
		d.Nominations = make(map[string]string, len(a.Nominations))
		for id, n := range a.Nominations {
			d.Nominations[id] = n.Nominate
		}
	}
	placed := a.Chosen()
	for _, c := range a.Tried() {
		one := outcome(c, c.Result)
		if !slices.Contains(placed, c) {
			one.Binding = model.Binding{}
		}
		d.Members = append(d.Members, one)
	}
}
