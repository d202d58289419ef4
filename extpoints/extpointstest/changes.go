package extpointstest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// tryHints proves that no change is missed: where it turns a rejection
// by the plugin into acceptance, some hint of the plugin must say Queue to one
// of its events.
func tryHints(tr *trial) {
	ext, ok := tr.plugin.(extpoints.EnqueueExtensions)
	if !ok {
		return // taken to be woken by everything
	}
	hints, err := ext.EventsToRegister()
	if err != nil {
		tr.failf(nil, "EventsToRegister: %v", err)
		return
	}
	turned, woken, slept := 0, 0, 0
	tr.each(func(s *Situation) {
		for range 8 {
			c := tr.suite.Change(tr.random, s)
			if c == nil || len(tr.problems) >= maxProblems {
				continue
			}
			wakes := wakes(hints, c)
			if wakes {
				woken++
			} else {
				slept++
			}
			if node := tr.turns(s, c.After); node != "" {
				turned++
				if !wakes {
					tr.failf(s, "%s: the plugin now accepts %s, but no hint says Queue", c.What, node)
				}
			}
		}
	})
	tr.notef("%d changes turned a rejection into acceptance; hints said Queue to %d and Skip to %d", turned, woken, slept)
}

// wakes reports whether a hint says Queue.
func wakes(hints []extpoints.EventHint, c *Changed) bool {
	for i := range c.Changes {
		change := &c.Changes[i]
		for _, h := range hints {
			if !h.Event.Matches(change.ClusterEvent) {
				continue
			}
			if h.Hint == nil {
				return true
			}
			hint, err := h.Hint(c.After.Workload.Workload, change)
			if err != nil || hint == extpoints.HintQueue {
				return true
			}
		}
	}
	return false
}

// turns names what the plugin rejected before and accepts after: a node, or
// the queue; empty where there is nothing.
func (tr *trial) turns(before, after *Situation) string {
	if pre, ok := tr.plugin.(extpoints.PreEnqueuePlugin); ok {
		if !pre.PreEnqueue(before.Workload.Workload).IsSuccess() && pre.PreEnqueue(after.Workload.Workload).IsSuccess() {
			return "the workload into the queue"
		}
	}
	was, is := judge(tr.plugin, before), judge(tr.plugin, after)
	old := map[string]bool{} // whether accepted, by node
	rejected := false
	for i, n := range before.View.NodeInfos {
		old[n.Node.Name] = was.accepts(before, i)
		rejected = rejected || !old[n.Node.Name]
	}
	for i, n := range after.View.NodeInfos {
		accepted, known := old[n.Node.Name]
		if rejected && is.accepts(after, i) && (!known || !accepted) {
			return "node " + n.Node.Name
		}
	}
	return ""
}

// changers make one kind of change each; nil where it cannot be made.
var changers = []func(r *rand.Rand, s *Situation) *Changed{
	addNode, deleteNode, updateNode, updateNode, updateNode,
	deleteWorkload, deleteWorkload, addWorkload, updateAssigned, updateAssigned, updateTarget, updateTarget,
}

// RandomChange makes a random change to a situation, with the events that an
// engine would report; nil where it found none to make.
func RandomChange(r *rand.Rand, s *Situation) *Changed { return pick(r, changers)(r, s) }

func event(resource model.ObjectKind, action extpoints.Action) extpoints.ClusterEvent {
	return extpoints.ClusterEvent{Resource: resource, Action: action}
}

func addNode(r *rand.Rand, s *Situation) *Changed {
	n := randomNode(r, fmt.Sprintf("n%d", len(s.View.NodeInfos)))
	if s.View.Nodes().Get(n.Name) != nil {
		return nil
	}
	after, info := s.copy(), extpoints.NewNodeInfo(n)
	info.Slot = int32(s.View.Index().Slots())
	after.View.NodeInfos = append(after.View.NodeInfos, info)
	return &Changed{What: fmt.Sprintf("node %+v is added", *n), After: after, Changes: []extpoints.Event{
		{ClusterEvent: event(extpoints.NodeResource, extpoints.Add), NewNode: n},
	}}
}

func deleteNode(r *rand.Rand, s *Situation) *Changed {
	after := s.copy()
	i := r.IntN(len(after.View.NodeInfos))
	n := after.View.NodeInfos[i].Node
	after.View.NodeInfos = slices.Delete(after.View.NodeInfos, i, i+1)
	return &Changed{What: "node " + n.Name + " is deleted", After: after, Changes: []extpoints.Event{
		{ClusterEvent: event(extpoints.NodeResource, extpoints.Delete), OldNode: n},
	}}
}

func updateNode(r *rand.Rand, s *Situation) *Changed {
	after := s.copy()
	info := pick(r, after.View.NodeInfos).Clone()
	old, node := info.Node, info.Node.Clone()
	other := randomNode(r, node.Name)
	switch r.IntN(7) {
	case 0:
		node.Allocatable = other.Allocatable
	case 1:
		node.MaxWorkloads = other.MaxWorkloads
	case 2:
		node.Labels = maps.Clone(other.Labels)
	case 3:
		node.Taints = other.Taints
	case 4:
		node.Unschedulable = other.Unschedulable
	case 5:
		node.Devices = append(node.Devices, other.Devices...)
	case 6:
		node.Allocatable, node.Labels, node.Taints = other.Allocatable, other.Labels, other.Taints
	}
	changes := NodeChanges(old, node)
	if len(changes) == 0 {
		return nil
	}
	info.SetNode(node)
	after.replace(info)
	return &Changed{What: fmt.Sprintf("node %+v becomes %+v", *old, *node), After: after, Changes: changes}
}

// NodeChanges lists the events of an updated node: one for each kind of thing
// that changed. A node that becomes schedulable is reported as a change of
// taints, a change of MaxWorkloads as one of allocatable (kube-scheduler
// framework/events.go NodeSchedulingPropertiesChange, 1.37.1).
func NodeChanges(old, node *model.Node) []extpoints.Event {
	var changes []extpoints.Event
	report := func(changed bool, action extpoints.Action) {
		if changed {
			changes = append(changes, extpoints.Event{ClusterEvent: event(extpoints.NodeResource, action), OldNode: old, NewNode: node})
		}
	}
	report(old.Unschedulable && !node.Unschedulable, extpoints.UpdateNodeTaint)
	report(old.MaxWorkloads != node.MaxWorkloads || !sameResources(&old.Allocatable, &node.Allocatable), extpoints.UpdateNodeAllocatable)
	report(!maps.Equal(old.Labels, node.Labels), extpoints.UpdateNodeLabel)
	report(!slices.Equal(old.Taints, node.Taints), extpoints.UpdateNodeTaint)
	report(!slices.Equal(old.Devices, node.Devices), extpoints.UpdateNodeDevices)
	return changes
}

func sameResources(a, b *model.Resources) bool {
	for _, name := range slices.Concat(a.Names(), b.Names()) {
		if a.Get(name) != b.Get(name) {
			return false
		}
	}
	return true
}

// deleteWorkload takes a workload off its node.
func deleteWorkload(r *rand.Rand, s *Situation) *Changed {
	after, info, w := pickPlaced(r, s)
	if w == nil {
		return nil
	}
	info.RemoveWorkload(w.ID)
	return &Changed{What: "workload " + w.ID + " is deleted", After: after, Changes: []extpoints.Event{
		{ClusterEvent: event(extpoints.AssignedWorkload, extpoints.Delete), OldWorkload: w},
	}}
}

// pickPlaced picks a workload that is on a node, and clones the node in a copy
// of the situation.
func pickPlaced(r *rand.Rand, s *Situation) (after *Situation, node *extpoints.NodeInfo, w *extpoints.WorkloadInfo) {
	after = s.copy()
	node = pick(r, after.View.NodeInfos).Clone()
	if len(node.Workloads) == 0 {
		return after, node, nil
	}
	after.replace(node)
	return after, node, pick(r, node.Workloads)
}

func addWorkload(r *rand.Rand, s *Situation) *Changed {
	after := s.copy()
	node := pick(r, after.View.NodeInfos).Clone()
	w := randomPlaced(r, node.Node.Name, "arrival", node)
	node.AddWorkload(w)
	after.replace(node)
	return &Changed{What: "workload " + w.ID + " arrives on " + node.Node.Name, After: after, Changes: []extpoints.Event{
		{ClusterEvent: event(extpoints.AssignedWorkload, extpoints.Add), NewWorkload: w},
	}}
}

func updateAssigned(r *rand.Rand, s *Situation) *Changed {
	after, node, old := pickPlaced(r, s)
	if old == nil {
		return nil
	}
	w := *old
	w.Workload = old.Workload.Clone()
	if one(r, 2) {
		w.Requests = randomRequests(r)
	} else {
		w.Labels = map[string]string{"app": pick(r, apps)}
	}
	node.RemoveWorkload(old.ID)
	node.AddWorkload(&w)
	return &Changed{
		What:    fmt.Sprintf("workload %+v becomes %+v", *old.Workload, *w.Workload),
		After:   after,
		Changes: WorkloadChanges(extpoints.AssignedWorkload, old, &w),
	}
}

func updateTarget(r *rand.Rand, s *Situation) *Changed {
	after := s.copy()
	w := &extpoints.WorkloadInfo{Workload: s.Workload.Workload.Clone()}
	switch r.IntN(5) {
	case 0:
		w.Tolerations = append(w.Tolerations, randomToleration(r))
	case 1:
		w.Requests = randomRequests(r)
	case 2:
		w.Labels = map[string]string{"app": pick(r, apps)}
	case 3, 4:
		w.Gates = nil
	}
	after.Workload = w
	changes := WorkloadChanges(extpoints.TargetWorkload, s.Workload, w)
	return &Changed{What: fmt.Sprintf("the workload becomes %+v", *w.Workload), After: after, Changes: changes}
}

// WorkloadChanges lists the events of an updated workload: one for each kind of
// thing that changed, or a plain Update where there is none (kube-scheduler
// framework/events.go PodSchedulingPropertiesChange, 1.37.1).
func WorkloadChanges(resource model.ObjectKind, old, w *extpoints.WorkloadInfo) []extpoints.Event {
	var changes []extpoints.Event
	report := func(changed bool, action extpoints.Action) {
		if changed {
			changes = append(changes, extpoints.Event{ClusterEvent: event(resource, action), OldWorkload: old, NewWorkload: w})
		}
	}
	less, more := false, false
	for _, name := range slices.Concat(old.Requests.Names(), w.Requests.Names()) {
		less = less || w.Requests.Get(name) < old.Requests.Get(name)
		more = more || w.Requests.Get(name) > old.Requests.Get(name)
	}
	report(!maps.Equal(old.Labels, w.Labels), extpoints.UpdateWorkloadLabel)
	report(less, extpoints.UpdateWorkloadScaleDown)
	report(more, extpoints.UpdateWorkloadScaleUp)
	report(len(old.Gates) > 0 && len(w.Gates) == 0, extpoints.UpdateWorkloadGatesEliminated)
	report(len(old.Tolerations) != len(w.Tolerations), extpoints.UpdateWorkloadToleration)
	report(!slices.Equal(old.DeviceClaims, w.DeviceClaims), extpoints.UpdateWorkloadDeviceClaims)
	report(len(changes) == 0, extpoints.Update)
	return changes
}
