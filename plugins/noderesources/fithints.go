package noderesources

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister asks for room: workloads that leave their node or get
// smaller, nodes that are new or get larger (a change of MaxWorkloads is
// reported as one of allocatable), and the workload itself getting smaller.
func (f *Fit) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		// Whatever leaves a node may make room there.
		{Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete}},
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.UpdateNodeAllocatable},
			Hint:  f.afterNodeChange,
		},
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.UpdateWorkloadScaleDown},
			Hint:  afterScaleDown,
		},
		{Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadScaleDown}},
	}, nil
}

// afterNodeChange says Queue for a node on which the workload would fit if it
// were empty, and which is new or has more than before of something that the
// workload needs.
//
// Like the reference it does not leave out the ignored resources: a workload
// that asks for an ignored scalar which the node does not have is not woken by
// that node, although Filter would accept it. Such workloads are tried again
// when their time in the unschedulable pool runs out.
func (f *Fit) afterNodeChange(w *model.Workload, c *extpoints.Change) (extpoints.Hint, error) {
	before, after, err := helper.ChangedNode(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	n := f.needsOf(&w.Requests, nil)
	if l, _ := n.lackingOn(after, &model.Resources{}, 0); l != 0 {
		return extpoints.HintSkip, nil
	}
	if before == nil || n.hasMore(before, after) {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// hasMore reports whether the node has, after a change, more of anything that
// is needed, places included.
func (n *needs) hasMore(before, after *model.Node) bool {
	if places(after) > places(before) {
		return true
	}
	old, now := &before.Allocatable, &after.Allocatable
	if n.request.CPU > 0 && now.CPU > old.CPU ||
		n.request.Memory > 0 && now.Memory > old.Memory ||
		n.request.EphemeralStorage > 0 && now.EphemeralStorage > old.EphemeralStorage {
		return true
	}
	for _, s := range n.scalars {
		if now.Scalar(s.Name) > old.Scalar(s.Name) {
			return true
		}
	}
	return false
}

// afterScaleDown says Queue where another workload now asks for less of
// something that w asks for. That the other one is on a node, which the
// reference checks here, the event's resource says already.
func afterScaleDown(w *model.Workload, c *extpoints.Change) (extpoints.Hint, error) {
	before, after, err := helper.UpdatedWorkload(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	for _, name := range w.Requests.Names() {
		if w.Requests.Get(name) != 0 && before.Requests.Get(name) > after.Requests.Get(name) {
			return extpoints.HintQueue, nil
		}
	}
	return extpoints.HintSkip, nil
}
