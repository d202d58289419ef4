package queuelevel

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// queueSide is Berth's queue alone, told of the changes that the histories make
// as the engine tells it.
type queueSide struct {
	q         *queue.Queue
	nodes     map[string]*model.Node
	workloads map[string]*extpoints.WorkloadInfo
	onNode    map[string]bool
	deaf      func(engine.Change) bool
}

// newQueueSide makes the queue with the functions of the profile's plugins.
func newQueueSide(profile extpoints.Profile, timing queue.Timing, o Options) (*queueSide, error) {
	c := Queue{Timing: timing}
	b := &queueSide{nodes: map[string]*model.Node{}, workloads: map[string]*extpoints.WorkloadInfo{}, onNode: map[string]bool{}, deaf: o.Deaf}
	handle := extpointstest.NewHandle()
	handle.Mode = extpoints.KubeScheduler137
	var gates []extpoints.PreEnqueuePlugin
	var hints []queue.PluginHints
	for _, ref := range profile.Plugins {
		plugin, err := ref.New(ref.Args, handle)
		if err != nil {
			return nil, err
		}
		if sort, ok := plugin.(extpoints.QueueSortPlugin); ok {
			c.Less = sort.Less
		}
		if gate, ok := plugin.(extpoints.PreEnqueuePlugin); ok {
			gates = append(gates, gate)
		}
		events, err := events(plugin)
		if err != nil {
			return nil, err
		}
		hints = append(hints, queue.PluginHints{Plugin: ref.Name, Events: events})
	}
	c.PreEnqueue = map[string][]extpoints.PreEnqueuePlugin{profile.Name: gates}
	c.Hints = map[string][]queue.PluginHints{profile.Name: hints}
	if o.Change != nil {
		o.Change(&c)
	}
	var err error
	b.q, err = queue.New(c.Timing, extpoints.KubeScheduler137, c.Hooks)
	return b, err
}

// events is what a plugin registers for; everything where it does not say and
// might reject.
func events(plugin extpoints.Plugin) ([]extpoints.EventHint, error) {
	if e, ok := plugin.(extpoints.EnqueueExtensions); ok {
		return e.EventsToRegister()
	}
	if _, ok := plugin.(extpoints.FilterPlugin); ok {
		return []extpoints.EventHint{{Event: extpoints.ClusterEvent{Resource: extpoints.AnyResource, Action: extpoints.AllActions}}}, nil
	}
	return nil, nil
}

// Apply implements [berth].
func (b *queueSide) Apply(now time.Time, changes ...engine.Change) error {
	for _, c := range heard(changes, b.deaf) {
		w, _ := c.Value().(*model.Workload)
		switch c.Verb() {
		case "put node":
			b.putNode(now, c.Value().(*model.Node))
		case "remove node":
			old := b.nodes[c.ID()]
			delete(b.nodes, c.ID())
			b.q.Move(now, &extpoints.Event{ClusterEvent: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Delete}, OldNode: old}, nil)
		case "submit":
			info := &extpoints.WorkloadInfo{Workload: w}
			b.workloads[w.ID] = info
			b.q.Add(now, info)
		case "update":
			b.update(now, w)
		case "adopt":
			b.workloads[w.ID] = &extpoints.WorkloadInfo{Workload: w}
			b.arrive(now, w.ID)
		case "confirm":
			b.q.Delete(c.ID())
			b.arrive(now, c.ID())
		case "remove":
			b.remove(now, c.ID())
		default:
			return fmt.Errorf("no history makes the change: %s", c)
		}
	}
	return nil
}

func (b *queueSide) putNode(now time.Time, n *model.Node) {
	old := b.nodes[n.Name]
	b.nodes[n.Name] = n
	events := []extpoints.ClusterEvent{{Resource: extpoints.NodeResource, Action: extpoints.Add}}
	if old != nil {
		events = extpoints.EventsForNodeUpdate(old, n)
	}
	for _, e := range events {
		b.q.Move(now, &extpoints.Event{ClusterEvent: e, OldNode: old, NewNode: n}, nil)
	}
}

func (b *queueSide) update(now time.Time, w *model.Workload) {
	old, info := b.workloads[w.ID], &extpoints.WorkloadInfo{Workload: w}
	b.workloads[w.ID] = info
	if !b.onNode[w.ID] {
		b.q.Update(now, old, info)
		return
	}
	for _, e := range extpoints.EventsForWorkloadUpdate(old.Workload, w, extpoints.AssignedWorkload) {
		b.q.Move(now, &extpoints.Event{ClusterEvent: e, OldWorkload: old, NewWorkload: info}, nil)
	}
}

func (b *queueSide) arrive(now time.Time, id string) {
	b.onNode[id] = true
	b.q.Move(now, &extpoints.Event{ClusterEvent: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Add}, NewWorkload: b.workloads[id]}, nil)
}

func (b *queueSide) remove(now time.Time, id string) {
	old := b.workloads[id]
	delete(b.workloads, id)
	if !b.onNode[id] {
		b.q.Delete(id)
		return
	}
	delete(b.onNode, id)
	b.q.Move(now, &extpoints.Event{ClusterEvent: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete}, OldWorkload: old}, nil)
}

// addUnschedulable puts a workload back, as it is now, as the engine does.
func (b *queueSide) addUnschedulable(now time.Time, it *queue.Item, rejected, pending []string) {
	if w := b.workloads[it.ID()]; w != nil {
		it.Info, it.Workload = w, w.Workload
	}
	b.q.AddUnschedulable(now, it, rejected, pending)
}

// DoDue implements [berth].
func (b *queueSide) DoDue(now time.Time) bool {
	due, ok := b.q.NextDue(now)
	if !ok || due.After(now) {
		return false
	}
	b.q.Tick(now)
	return true
}

// Queue implements [berth].
func (b *queueSide) Queue(id string) (queue.Position, bool) { return b.q.Position(id) }

// QueueCounts implements [berth].
func (b *queueSide) QueueCounts() queue.Counts { return b.q.Counts() }

// Activate implements [berth].
func (b *queueSide) Activate(now time.Time, ids []string) { b.q.Activate(now, ids...) }

// Nominations implements [berth]; a bare queue knows of none.
func (b *queueSide) Nominations() map[string][]string { return nil }
