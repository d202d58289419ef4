package loadawarescheduling

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister asks for measurements that change or go (one that comes never helps: a node
// without passes), for workloads that leave or need less, for nodes that come or have other
// amounts, and for a workload that itself needs less.
func (p *LoadAwareScheduling) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		helper.On(model.NodeLoadKind, extpoints.Update|extpoints.Delete, p.afterLoadChange),
		helper.On(extpoints.AssignedWorkload, extpoints.Update|extpoints.Delete, p.afterWorkloadChange),
		helper.On(extpoints.NodeResource, extpoints.Add|extpoints.UpdateNodeAllocatable, nil),
		helper.On(extpoints.TargetWorkload, extpoints.Update, nil),
	}, nil
}

// afterLoadChange says Queue where the node passes now, and did not with the old measurement or
// when that had grown too old. Measurements come often, and most change nothing.
func (p *LoadAwareScheduling) afterLoadChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	was, is := extpoints.ObjectsOf[*model.NodeLoad](c)
	if was == nil {
		return extpoints.HintQueue, helper.ErrNoObject
	}
	node := p.handle.View().Nodes().Get(was.Node)
	if node == nil || is != nil && p.beyond(w, node, is) != nil {
		return extpoints.HintSkip, nil
	}
	// A measurement comes some time after its end, when the old one may have been too old.
	mayHaveExpired := is == nil || is.At.Sub(was.At).Abs() > p.args.MaxAge/2
	return helper.QueueIf(mayHaveExpired || p.beyond(w, node, was) != nil)
}

// afterWorkloadChange says Queue where the node passes on which there is less now.
func (p *LoadAwareScheduling) afterWorkloadChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	view := p.handle.View()
	node, load := view.Nodes().Get(c.WorkloadNode), view.NodeLoad(c.WorkloadNode)
	if node == nil || load == nil { // where it was is not known, or anybody passes there
		return helper.QueueIf(c.WorkloadNode == "")
	}
	return helper.QueueIf(p.beyond(w, node, load) == nil)
}
