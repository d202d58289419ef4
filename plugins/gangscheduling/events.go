package gangscheduling

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister asks for new members of the tree, waiting or already on a
// node, for new groups in it, and for groups in it that need fewer members.
func (p *GangScheduling) EventsToRegister() ([]extpoints.EventHint, error) {
	on := func(r model.ObjectKind, a extpoints.Action) extpoints.ClusterEvent {
		return extpoints.ClusterEvent{Resource: r, Action: a}
	}
	return []extpoints.EventHint{
		{Event: on(extpoints.UnscheduledWorkload, extpoints.Add), Hint: p.afterMemberAdded},
		{Event: on(extpoints.AssignedWorkload, extpoints.Add), Hint: p.afterMemberAdded},
		{Event: on(extpoints.GroupResource, extpoints.Add), Hint: p.afterGroupAdded},
		{Event: on(extpoints.GroupResource, extpoints.Update), Hint: p.afterGroupUpdated},
	}, nil
}

func (p *GangScheduling) afterMemberAdded(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	if c.NewWorkload == nil {
		return extpoints.HintQueue, helper.ErrNoWorkload
	}
	return p.ifRelated(w.Group, c.NewWorkload.Group), nil
}

func (p *GangScheduling) afterGroupAdded(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	if c.NewGroup == nil {
		return extpoints.HintQueue, helper.ErrNoGroup
	}
	return p.ifRelated(w.Group, c.NewGroup.ID), nil
}

// afterGroupUpdated says Queue where a group of the tree needs fewer members
// than before, or has another parent or kind. The reference looks at MinCount
// only: the rest cannot be changed there.
func (p *GangScheduling) afterGroupUpdated(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := c.OldGroup, c.NewGroup
	if before == nil || after == nil {
		return extpoints.HintQueue, helper.ErrNoGroup
	}
	if needed(after) >= needed(before) && after.Parent == before.Parent && after.Composite == before.Composite {
		return extpoints.HintSkip, nil
	}
	return p.ifRelated(w.Group, after.ID), nil
}

// ifRelated says Queue where the two groups are of one tree, which is there up
// to its top.
func (p *GangScheduling) ifRelated(a, b string) extpoints.Hint {
	if a == "" || b == "" {
		return extpoints.HintSkip
	}
	groups := p.handle.View().Groups()
	one, other := groups.Root(a), groups.Root(b)
	if one == nil || other == nil || one.ID != other.ID {
		return extpoints.HintSkip
	}
	return extpoints.HintQueue
}
