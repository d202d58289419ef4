package coscheduling

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister asks for new members of the group, waiting or already on a
// node, for the group itself, and for a group that needs fewer members. Members
// that were turned down because of another are brought back by that one, when it
// has found a node (see Permit).
func (p *Coscheduling) EventsToRegister() ([]extpoints.EventHint, error) {
	on := func(r extpoints.Resource, a extpoints.Action) extpoints.ClusterEvent {
		return extpoints.ClusterEvent{Resource: r, Action: a}
	}
	return []extpoints.EventHint{
		{Event: on(extpoints.UnscheduledWorkload, extpoints.Add), Hint: afterMemberAdded},
		{Event: on(extpoints.AssignedWorkload, extpoints.Add), Hint: afterMemberAdded},
		{Event: on(extpoints.GroupResource, extpoints.Add), Hint: afterGroupAdded},
		{Event: on(extpoints.GroupResource, extpoints.Update), Hint: afterGroupUpdated},
	}, nil
}

func afterMemberAdded(w *model.Workload, c *extpoints.Change) (extpoints.Hint, error) {
	if c.NewWorkload == nil {
		return extpoints.HintQueue, helper.ErrNoWorkload
	}
	return helper.QueueIf(w.Group != "" && c.NewWorkload.Group == w.Group)
}

func afterGroupAdded(w *model.Workload, c *extpoints.Change) (extpoints.Hint, error) {
	if c.NewGroup == nil {
		return extpoints.HintQueue, helper.ErrNoGroup
	}
	return helper.QueueIf(c.NewGroup.ID == w.Group)
}

func afterGroupUpdated(w *model.Workload, c *extpoints.Change) (extpoints.Hint, error) {
	if c.OldGroup == nil || c.NewGroup == nil {
		return extpoints.HintQueue, helper.ErrNoGroup
	}
	// Only a Gang has a MinCount above 0.
	return helper.QueueIf(c.NewGroup.ID == w.Group && c.NewGroup.MinCount < c.OldGroup.MinCount)
}
