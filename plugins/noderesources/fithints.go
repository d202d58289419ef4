package noderesources

import (
	"errors"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister asks for room: workloads that leave their node or get
// smaller, nodes that are new or get larger (a change of MaxWorkloads is
// reported as one of allocatable), the workload itself getting smaller, and
// device classes that stand for a resource.
//
// To the reference whatever leaves a node may have made room for everybody. Here
// it has for those whom that node may serve now, unless the engine is told to keep
// to the reference ([extpoints.KubeScheduler137]): of 5,000 workloads that wait it
// is often none, and a new one would have to wait until all were tried.
func (f *Fit) EventsToRegister() ([]extpoints.EventHint, error) {
	afterDeparture, afterScaleDown := f.afterDeparture, f.afterScaleDown
	if f.compat == extpoints.KubeScheduler137 {
		afterDeparture, afterScaleDown = nil, asksForLess
	}
	return []extpoints.EventHint{
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete},
			Hint:  afterDeparture,
		},
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.UpdateNodeAllocatable},
			Hint:  f.afterNodeChange,
		},
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.UpdateWorkloadScaleDown},
			Hint:  afterScaleDown,
		},
		{Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadScaleDown}},
		{
			Event: extpoints.ClusterEvent{Resource: model.DeviceClassKind, Action: extpoints.Add | extpoints.Update},
			Hint:  afterClassChange,
		},
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
func (f *Fit) afterNodeChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after, err := helper.ChangedNode(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	n := f.needsOf(&w.Requests, nil)
	if len(n.scalars) > 0 {
		n.servedBy(f.handle.View().Devices())
	}
	if l, _ := n.lackingOn(after, &model.Resources{}, 0); l != 0 {
		return extpoints.HintSkip, nil
	}
	if before == nil || n.hasMore(before, after) {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// hasMore reports whether the node has, after a change, more of anything that
// is needed, places included, or leaves something to devices.
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
	for i, s := range n.scalars {
		if now.Scalar(s.Name) > old.Scalar(s.Name) || n.served != nil && n.served[i] && now.Scalar(s.Name) <= 0 {
			return true
		}
	}
	return false
}

var errNoClass = errors.New("a change of a device class without the class")

// afterClassChange says Queue for a class that now stands for a scalar that the
// workload requests, and did not before. (isSchedulableAfterDeviceClassEvent.)
func afterClassChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := extpoints.ObjectsOf[*model.DeviceClass](c)
	if after == nil {
		return extpoints.HintQueue, errNoClass
	}
	requests := func(resource string) bool {
		return slices.ContainsFunc(w.Requests.Scalars, func(s model.Scalar) bool { return s.Name == resource })
	}
	switch {
	case before != nil && before.Resource == after.Resource:
		return extpoints.HintSkip, nil
	case before == nil && requests(model.DeviceClassResource+after.Name):
		return extpoints.HintQueue, nil
	case after.Resource != "" && requests(after.Resource):
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// afterDeparture says Queue where the node that another workload has left, or was to
// get, may serve w now. Fit's verdict on a node depends on that node alone, so that
// the departure changes it nowhere else.
func (f *Fit) afterDeparture(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	return helper.QueueIf(f.mayServe(w, c.WorkloadNode))
}

// afterScaleDown says the same of the node of a workload that asks for less now of
// something that w asks for.
func (f *Fit) afterScaleDown(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	if hint, err := asksForLess(w, c); hint == extpoints.HintSkip || err != nil {
		return hint, err
	}
	return helper.QueueIf(f.mayServe(w, c.WorkloadNode))
}

// mayServe reports whether the node with the name has, as it is now, room for the
// workload, or would have if those of lower priority left it, where the workload may
// displace them. It also says so of the node that the workload is nominated to: where
// the room that was made for it has gone to another, it may make room again. A node
// whose name is not known may.
func (f *Fit) mayServe(w *model.Workload, name string) bool {
	if name == "" {
		return true
	}
	view := f.handle.View()
	node := view.Nodes().Get(name)
	if node == nil {
		return false
	}
	n := f.needsOf(&w.Requests, f.ignores)
	if len(n.scalars) > 0 {
		n.servedBy(view.Devices())
	}
	l, unresolvable := n.lackingOn(node.Node, &node.Requested, len(node.Workloads))
	return l == 0 || !unresolvable && n.fitsWithoutLower(w, node) ||
		slices.ContainsFunc(view.Nominated(name), func(o *extpoints.WorkloadInfo) bool { return o.ID == w.ID })
}

// fitsWithoutLower reports whether the node would have room if all that the workload
// may displace left it.
func (n *needs) fitsWithoutLower(w *model.Workload, node *extpoints.NodeInfo) bool {
	if !w.MayPreempt() {
		return false
	}
	used, count := node.RequestedFrom(w.Priority)
	if count == len(node.Workloads) {
		return false
	}
	l, _ := n.lackingOn(node.Node, &used, count)
	return l == 0
}

// asksForLess says Queue where another workload now asks for less of something
// that w asks for. That the other one is on a node, which the reference checks
// here, the event's resource says already.
func asksForLess(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
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
