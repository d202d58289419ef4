package coscheduling

import (
	"errors"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// errNoGroup is the error of a hint that got a change of a group without it.
var errNoGroup = errors.New("a change of a group without the group")

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
	return queueIf(w.Group != "" && c.NewWorkload.Group == w.Group), nil
}

func afterGroupAdded(w *model.Workload, c *extpoints.Change) (extpoints.Hint, error) {
	if c.NewGroup == nil {
		return extpoints.HintQueue, errNoGroup
	}
	return queueIf(c.NewGroup.ID == w.Group), nil
}

func afterGroupUpdated(w *model.Workload, c *extpoints.Change) (extpoints.Hint, error) {
	if c.OldGroup == nil || c.NewGroup == nil {
		return extpoints.HintQueue, errNoGroup
	}
	// Only a Gang has a MinCount above 0.
	return queueIf(c.NewGroup.ID == w.Group && c.NewGroup.MinCount < c.OldGroup.MinCount), nil
}

func queueIf(helps bool) extpoints.Hint {
	if helps {
		return extpoints.HintQueue
	}
	return extpoints.HintSkip
}
