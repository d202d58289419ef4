package coscheduling

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister asks for new members of the group, waiting or already on a
// node, for the group itself, and for a group that needs fewer members. Members
// that were rejected because of another are brought back by that one, when it
// has found a node (see Permit).
func (p *Coscheduling) EventsToRegister() ([]extpoints.EventHint, error) {
	on := func(r model.ObjectKind, a extpoints.Action) extpoints.ClusterEvent {
		return extpoints.ClusterEvent{Resource: r, Action: a}
	}
	return []extpoints.EventHint{
		{Event: on(extpoints.UnscheduledWorkload, extpoints.Add), Hint: afterMemberAdded},
		{Event: on(extpoints.AssignedWorkload, extpoints.Add), Hint: afterMemberAdded},
		{Event: on(extpoints.GroupResource, extpoints.Add), Hint: afterGroupAdded},
		{Event: on(extpoints.GroupResource, extpoints.Update), Hint: afterGroupUpdated},
		{Event: on(extpoints.AssignedWorkload, extpoints.Delete|extpoints.UpdateWorkloadScaleDown), Hint: p.afterRoom},
		{Event: on(extpoints.NodeResource, extpoints.Add|extpoints.UpdateNodeAllocatable), Hint: p.afterRoom},
	}, nil
}

func afterMemberAdded(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	if c.NewWorkload == nil {
		return extpoints.HintQueue, helper.ErrNoWorkload
	}
	return helper.QueueIf(w.Group != "" && c.NewWorkload.Group == w.Group)
}

func afterGroupAdded(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	if c.NewGroup == nil {
		return extpoints.HintQueue, helper.ErrNoGroup
	}
	return helper.QueueIf(c.NewGroup.ID == w.Group)
}

func afterGroupUpdated(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	if c.OldGroup == nil || c.NewGroup == nil {
		return extpoints.HintQueue, helper.ErrNoGroup
	}
	was, is := c.OldGroup, c.NewGroup
	return helper.QueueIf(is.ID == w.Group && (is.MinCount < was.MinCount || lessIsEnough(&was.MinResources, &is.MinResources)))
}

// lessIsEnough reports whether less of anything is enough now.
func lessIsEnough(was, is *model.Resources) bool {
	for _, name := range was.Names() {
		if is.Get(name) < was.Get(name) {
			return true
		}
	}
	return false
}

// afterRoom says Queue where there may be enough left now for the MinResources of the group.
func (p *Coscheduling) afterRoom(w *model.Workload, _ *extpoints.Event) (extpoints.Hint, error) {
	if w.Group == "" {
		return extpoints.HintSkip, nil
	}
	v := p.handle.View()
	g := gangOf(v.Groups(), w)
	if g == nil || len(g.MinResources.Names()) == 0 {
		return extpoints.HintSkip, nil
	}
	_, placed := v.Groups().Members(g.ID)
	return helper.QueueIf(lacks(v, g, placed) == "")
}
