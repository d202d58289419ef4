package noderesourcetopologymatch

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister asks for reports that change or go (one that comes never helps: a node
// without passes), for workloads that leave or change, for nodes that come or have other
// amounts, and for a workload that itself needs less.
func (p *NodeResourceTopologyMatch) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		helper.On(model.NodeTopologyKind, extpoints.Update|extpoints.Delete, p.afterReport),
		helper.On(extpoints.AssignedWorkload, extpoints.Update|extpoints.Delete, p.afterWorkloadChange),
		helper.On(extpoints.NodeResource, extpoints.Add|extpoints.UpdateNodeAllocatable, nil),
		helper.On(extpoints.TargetWorkload, extpoints.Update, nil),
	}, nil
}

// afterReport says Queue where the node would take the workload now. Reports come often.
func (p *NodeResourceTopologyMatch) afterReport(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	was, is := extpoints.ObjectsOf[*model.NodeTopology](c)
	if was == nil {
		return extpoints.HintQueue, helper.ErrNoObject
	}
	v := p.handle.View()
	node := v.Nodes().Get(was.Node)
	if node == nil {
		return extpoints.HintSkip, nil
	}
	return helper.QueueIf(is == nil || p.fits(v, is, w, node) == nil)
}

// afterWorkloadChange says Queue where the node would take the workload on which there is more
// room now.
func (p *NodeResourceTopologyMatch) afterWorkloadChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	v := p.handle.View()
	node, t := v.Nodes().Get(c.WorkloadNode), v.NodeTopology(c.WorkloadNode)
	if node == nil || t == nil { // where it was is not known, or anything passes there
		return helper.QueueIf(c.WorkloadNode == "")
	}
	return helper.QueueIf(p.fits(v, t, w, node) == nil)
}
