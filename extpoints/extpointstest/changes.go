package extpointstest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

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
	return &Changed{What: "node " + n.Name + " is added", After: after, Changes: []extpoints.Event{
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
	i := r.IntN(len(s.View.NodeInfos))
	other := randomNode(r, s.View.NodeInfos[i].Node.Name)
	what := r.IntN(7)
	return ChangeNode(s, i, func(node *model.Node) {
		switch what {
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
	})
}

// ChangeNode makes the change in which f changes the node with the index in the view's NodeInfos, with the events
// that an engine would report; nil where f changes nothing that events tell of.
func ChangeNode(s *Situation, i int, f func(*model.Node)) *Changed {
	after := s.copy()
	info := after.View.NodeInfos[i].Clone()
	old, node := info.Node, info.Node.Clone()
	f(node)
	changes := NodeChanges(old, node)
	if len(changes) == 0 {
		return nil
	}
	info.SetNode(node)
	after.replace(info)
	return &Changed{What: "node " + old.Name + " changes", After: after, Changes: changes}
}

// NodeChanges lists the events of an updated node, see [extpoints.EventsForNodeUpdate].
func NodeChanges(old, node *model.Node) []extpoints.Event {
	return each(extpoints.EventsForNodeUpdate(old, node), extpoints.Event{OldNode: old, NewNode: node})
}

// each is an event of each kind, about the same objects.
func each(kinds []extpoints.ClusterEvent, about extpoints.Event) (events []extpoints.Event) {
	for _, about.ClusterEvent = range kinds {
		events = append(events, about)
	}
	return events
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
	if one(r, 2) {
		return changeAssigned(r, s, func(w *model.Workload) { w.Requests = randomRequests(r) })
	}
	return changeAssigned(r, s, func(w *model.Workload) { w.Labels = map[string]string{"app": pick(r, apps)} })
}

// changeAssigned changes one of the workloads that have a node; nil where it finds none.
func changeAssigned(r *rand.Rand, s *Situation, f func(*model.Workload)) *Changed {
	after, node, old := pickPlaced(r, s)
	if old == nil {
		return nil
	}
	w := *old
	w.Workload = old.Workload.Clone()
	f(w.Workload)
	node.RemoveWorkload(old.ID)
	node.AddWorkload(&w)
	return &Changed{
		What:    "workload " + w.ID + " on " + node.Node.Name + " changes",
		After:   after,
		Changes: WorkloadChanges(extpoints.AssignedWorkload, old, &w),
	}
}

func updateTarget(r *rand.Rand, s *Situation) *Changed {
	what := r.IntN(5)
	return ChangeWorkload(s, func(w *model.Workload) {
		switch what {
		case 0:
			w.Tolerations = append(w.Tolerations, randomToleration(r))
		case 1:
			w.Requests = randomRequests(r)
		case 2:
			w.Labels = map[string]string{"app": pick(r, apps)}
		case 3, 4:
			w.Gates = nil
		}
	})
}

// ChangeWorkload makes the change in which f changes the workload that is to be placed, with the events that an
// engine would report.
func ChangeWorkload(s *Situation, f func(*model.Workload)) *Changed {
	after := s.copy()
	w := &extpoints.WorkloadInfo{Workload: s.Workload.Workload.Clone()}
	f(w.Workload)
	after.Workload = w
	return &Changed{
		What:    "the workload changes",
		After:   after,
		Changes: WorkloadChanges(extpoints.TargetWorkload, s.Workload, w),
	}
}

// borrowed makes changes that take something from another situation of the suite, so that labels and features become others
// that the plugin looks at, whatever they are: of a node, of the workload, and of one that has a node.
func borrowed(r *rand.Rand, s, other *Situation) []*Changed {
	changes := []*Changed{ChangeWorkload(s, func(w *model.Workload) { w.Labels = other.Workload.Labels })}
	if len(s.View.NodeInfos) == 0 || len(other.View.NodeInfos) == 0 {
		return changes
	}
	from := pick(r, other.View.NodeInfos)
	changes = append(changes, ChangeNode(s, r.IntN(len(s.View.NodeInfos)), func(n *model.Node) {
		n.Labels, n.Zone, n.Features = from.Node.Labels, from.Node.Zone, from.Node.Features
	}))
	if len(from.Workloads) > 0 {
		labels := pick(r, from.Workloads).Labels
		changes = append(changes, changeAssigned(r, s, func(w *model.Workload) { w.Labels = labels }))
	}
	return changes
}

// WorkloadChanges lists the events of an updated workload, see [extpoints.EventsForWorkloadUpdate].
func WorkloadChanges(resource model.ObjectKind, old, w *extpoints.WorkloadInfo) []extpoints.Event {
	return each(extpoints.EventsForWorkloadUpdate(old.Workload, w.Workload, resource), extpoints.Event{OldWorkload: old, NewWorkload: w})
}
