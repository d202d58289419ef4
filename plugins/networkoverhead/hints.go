package networkoverhead

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister asks for all that can make a node close enough: workloads of the
// application that come, leave or change their labels, the graph, the costs, nodes that come
// or move, and the labels of the workload itself.
func (p *NetworkOverhead) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		helper.On(extpoints.AssignedWorkload, extpoints.Add|extpoints.UpdateWorkloadLabel|extpoints.Delete, p.afterWorkload),
		helper.On(model.AppGraphKind, extpoints.Add|extpoints.Update|extpoints.Delete, p.afterGraph),
		helper.On(model.NetworkCostsKind, extpoints.Add|extpoints.Update|extpoints.Delete, nil),
		helper.On(extpoints.NodeResource, extpoints.Add|extpoints.Delete|extpoints.UpdateNodeLabel, nil),
		helper.On(extpoints.TargetWorkload, extpoints.UpdateWorkloadLabel, nil),
	}, nil
}

// afterWorkload says Queue where the workload that comes, leaves or changes is or was of the
// application.
func (p *NetworkOverhead) afterWorkload(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	of := func(i *extpoints.WorkloadInfo) bool {
		return i != nil && i.Labels[p.labels.Graph] == w.Labels[p.labels.Graph]
	}
	return helper.QueueIf(of(c.OldWorkload) || of(c.NewWorkload))
}

// afterGraph says Queue where the graph may be that of the workload: of a name, of which there
// may be one in several namespaces.
func (p *NetworkOverhead) afterGraph(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	was, is := extpoints.ObjectsOf[*model.AppGraph](c)
	if was == nil {
		was = is
	}
	if was == nil {
		return extpoints.HintQueue, helper.ErrNoObject
	}
	for id := range p.labels.IDs(w.Labels[p.labels.Graph]) {
		if was.ID == id {
			return extpoints.HintQueue, nil
		}
	}
	return extpoints.HintSkip, nil
}
