package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// react lets queue and listeners follow one change.
func (r *Raw) react(now time.Time, ch *store.Change) {
	switch ch.Kind {
	case store.NodeKind:
		r.reactNode(now, ch.OldNode, ch.NewNode)
	case store.WorkloadKind:
		r.room.Follow(ch.OldWorkload, ch.NewWorkload)
		r.reactWorkload(now, ch.OldWorkload, ch.NewWorkload)
	case store.GroupKind:
		change := extpoints.Change{Event: event(extpoints.GroupResource, ch.OldGroup != nil, ch.NewGroup != nil)}
		if ch.OldGroup != nil {
			change.OldGroup = ch.OldGroup.Group
		}
		if ch.NewGroup != nil {
			change.NewGroup = ch.NewGroup.Group
		}
		r.queue.GroupChanged(now, ch.ID())
		r.room.FollowGroup(ch.ID())
		r.offer(now, &change, nil)
	case store.BudgetKind:
		r.offer(now, &extpoints.Change{Event: event(extpoints.BudgetResource, ch.OldBudget != nil, ch.NewBudget != nil)}, nil)
	case store.NamespaceKind:
		change := extpoints.Change{Event: event(extpoints.NamespaceResource, ch.OldNamespace != nil, ch.NewNamespace != nil)}
		if ch.OldNamespace != nil {
			change.OldNamespace = ch.OldNamespace.Namespace
		}
		if ch.NewNamespace != nil {
			change.NewNamespace = ch.NewNamespace.Namespace
		}
		r.offer(now, &change, nil)
	case store.ObjectKind:
		r.reactObject(now, ch.OldObject, ch.NewObject, "")
	}
}

// reactObject tells of an object that was reported, or about which something
// was decided or taken back: to those who wait it is the same. The workload of
// the ID is not woken, empty for none.
func (r *Raw) reactObject(now time.Time, before, after *store.Object, but string) {
	change := extpoints.Change{OldObject: before.Current(), NewObject: after.Current()}
	if change.OldObject == change.NewObject {
		return
	}
	kind := cmp.Or(change.NewObject, change.OldObject).ObjectKind()
	if kind == model.DeviceTaintRuleKind {
		r.reactTaintRule(now, &change)
		return
	}
	change.Event = event(extpoints.Resource(kind), before != nil, after != nil)
	var others func(*model.Workload) bool
	if but != "" {
		others = func(w *model.Workload) bool { return w.ID != but }
	}
	r.offer(now, &change, others)
}

// reactTaintRule tells of the slices whose devices have other taints because of a
// rule. What the rule itself says is of no interest to anybody. (kube-scheduler:
// k8s.io/dynamic-resource-allocation resourceslice/tracker, 0.37.1.)
func (r *Raw) reactTaintRule(now time.Time, rule *extpoints.Change) {
	before, after := extpoints.ObjectsOf[*model.DeviceTaintRule](rule)
	for _, s := range r.rec.View.Devices().Slices().List {
		if retaints(s, before, after) {
			r.offer(now, &extpoints.Change{
				Event:     extpoints.ClusterEvent{Resource: extpoints.DeviceSliceResource, Action: extpoints.Update},
				OldObject: s, NewObject: s,
			}, nil)
		}
	}
}

// retaints reports whether the change of a rule gives some device of the slice
// other taints; nil is no rule.
func retaints(s *model.DeviceSlice, before, after *model.DeviceTaintRule) bool {
	for i := range s.Devices {
		was, is := before.AppliesTo(s, i), after.AppliesTo(s, i)
		if was != is || was && before.Taint != after.Taint {
			return true
		}
	}
	return false
}

func event(resource extpoints.Resource, before, after bool) extpoints.ClusterEvent {
	e := extpoints.ClusterEvent{Resource: resource, Action: extpoints.Update}
	switch {
	case !before:
		e.Action = extpoints.Add
	case !after:
		e.Action = extpoints.Delete
	}
	return e
}

func (r *Raw) reactNode(now time.Time, before, after *store.Node) {
	change := extpoints.Change{}
	if before != nil {
		change.OldNode = before.Node
	}
	if after != nil {
		change.NewNode = after.Node
	}
	if before != nil && after != nil && before.Seq != after.Seq { // removed and put again
		r.reactNode(now, before, nil)
		r.reactNode(now, nil, after)
		return
	}
	if before == nil || after == nil {
		change.Event = event(extpoints.NodeResource, before != nil, after != nil)
		r.offer(now, &change, nil)
		return
	}
	for _, e := range queue.EventsForNodeUpdate(before.Node, after.Node) {
		change.Event = e
		r.offer(now, &change, nil)
	}
}

// reactWorkload follows a workload's move from one phase to another. What the
// scheduling cycle itself does (assume, forget, bind, nominate) is followed
// where it happens.
func (r *Raw) reactWorkload(now time.Time, before, after *store.Workload) {
	if before != nil && after != nil && before.CreateIndex != after.CreateIndex {
		// Removed and handed in again in one transaction: another workload.
		r.removed(now, before, nil)
		before = nil
	}
	switch {
	case before == nil && after.Phase == model.Pending:
		r.listener.Submitted(SubmittedEvent{At: now, Workload: after.Info.Workload})
		r.enqueue(now, after.Info)
	case before == nil && after.TakesRoomOn() == "": // ended before it began
		r.listener.Submitted(SubmittedEvent{At: now, Workload: after.Info.Workload})
	case before == nil:
		r.listener.Submitted(SubmittedEvent{At: now, Workload: after.Info.Workload})
		r.confirmed(now, nil, after)
	case after == nil || after.Phase == model.Finished:
		r.removed(now, before, after)
	case after.Phase == model.Pending && before.Phase == model.Pending:
		if before.Info.Workload != after.Info.Workload && r.tasks.Binding(after.Info.ID) == nil {
			r.offering(workloadUpdated, func() {
				r.queue.Update(now, before.Info, after.Info)
				if after.Info.Group != "" && before.Info.Group != after.Info.Group {
					r.awaited(now, after.Info)
				}
			})
			if after.NominatedTo() != "" && after.Info.Priority < before.Info.Priority && !r.cfg.ReferenceWakeUps {
				r.roomGiven(now, before, queue.RoomGivenUp) // others need not leave it that room any more
			}
		}
		if before.NominatedTo() != after.NominatedTo() {
			r.freed(now, before)
		}
	case after.Phase == model.Pending:
		// Where the engine itself takes a decision back there is no task.
		if before.Phase != model.Assumed || r.tasks.Binding(before.Info.ID) != nil {
			r.requeued(now, before, after)
		}
	case after.Phase == model.Terminating && before.Phase == model.Pending:
		r.queue.Delete(before.Info.ID)
		r.freed(now, before)
	case after.Phase == model.Terminating && before.Phase == model.Assumed:
		r.interrupt(now, before.Info.ID, ErrRemoved)
		r.freed(now, before) // not the room, but what was reserved besides
	case after.Phase == model.Confirmed && before.Phase != model.Confirmed:
		r.confirmed(now, before, after)
	case after.Phase == model.Assumed || after.Phase == model.Bound:
		if before.Phase == after.Phase {
			r.updated(now, before, after)
		}
		if kept := before.NominatedTo(); kept != "" && kept != after.Node && !r.cfg.ReferenceWakeUps {
			r.roomGiven(now, before, queue.RoomGivenUp)
		}
		if r.permits.Of(after.Info.ID) != nil {
			r.queue.Update(now, before.Info, after.Info) // for when it is turned down
		}
	default:
		r.updated(now, before, after)
	}
}

// confirmed follows a workload that has been seen on a node.
func (r *Raw) confirmed(now time.Time, before, after *store.Workload) {
	id := after.Info.ID
	binding := model.Binding{Workload: id, Node: after.Node, Devices: after.Info.Shares}
	delete(r.lastWhy, id)
	if before != nil && before.Phase == model.Pending {
		r.dequeue(id)
	}
	if before != nil && before.Phase == model.Assumed && before.Node != after.Node {
		r.interrupt(now, id, ErrRemoved) // it went elsewhere
	}
	if before != nil && before.TakesRoomOn() != after.Node {
		r.left(id)
		switch kept := before.NominatedTo(); {
		case kept == after.Node:
		case kept != "" && r.cfg.ReferenceWakeUps:
		default:
			r.freed(now, before) // what it had there
		}
	}
	if before != nil && before.TakesRoomOn() == after.Node && holdsOther(before, after) {
		r.updated(now, before, after) // it may hold less there than it was given
	}
	r.listener.Confirmed(PlacedEvent{At: now, Workload: after.Info.Workload, Binding: binding})
	if before == nil || before.Phase != model.Bound || before.Node != after.Node {
		r.arrived(now, after.Info)
	}
}

// holdsOther reports whether a workload asks for, or holds, something else than
// before.
func holdsOther(before, after *store.Workload) bool {
	return before.Info.Workload != after.Info.Workload || !slices.Equal(before.Info.Shares, after.Info.Shares)
}

// arrived wakes those who wait for a workload to be on a node: when it is
// bound, or confirmed if that comes first.
func (r *Raw) arrived(now time.Time, w *extpoints.WorkloadInfo) {
	r.offer(now, &extpoints.Change{
		Event:       extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Add},
		NewWorkload: w,
	}, nil)
}

// updated follows a change of a workload that is on a node. To those of the group
// that it joins it has arrived.
func (r *Raw) updated(now time.Time, before, after *store.Workload) {
	if before.Info.Group != after.Info.Group {
		r.arrived(now, after.Info)
	}
	for _, e := range queue.EventsForWorkloadUpdate(before.Info.Workload, after.Info.Workload, extpoints.AssignedWorkload) {
		r.offer(now, &extpoints.Change{Event: e, OldWorkload: before.Info, NewWorkload: after.Info}, nil)
	}
}

// requeued follows a workload that lost its node and waits again.
func (r *Raw) requeued(now time.Time, before, after *store.Workload) {
	r.left(before.Info.ID)
	r.interrupt(now, before.Info.ID, ErrRemoved)
	r.freed(now, before)
	r.enqueue(now, after.Info)
}

// removed follows a workload that has ended or was forgotten.
func (r *Raw) removed(now time.Time, before, after *store.Workload) {
	id := before.Info.ID
	delete(r.lastWhy, id)
	r.left(id)
	if before.Phase != model.Finished {
		if before.TakesRoomOn() == "" {
			r.dequeue(id)
		} else {
			r.queue.Delete(id) // an attempt that is under way
		}
		r.interrupt(now, id, ErrRemoved)
		r.freed(now, before)
	}
	if after == nil {
		r.listener.Removed(RemovedEvent{At: now, Workload: before.Info.Workload, Phase: before.Phase, Node: before.Node})
	}
}

// freed wakes those who may use the room that a workload leaves, or that was
// kept for it by a nomination: in the second case only those that had to leave
// it that room (kube-scheduler eventhandlers.go, 1.37.1).
func (r *Raw) freed(now time.Time, before *store.Workload) {
	switch {
	case before.TakesRoomOn() != "":
		r.offer(now, freedBy(before.Info), nil)
	case before.NominatedTo() != "":
		r.roomGiven(now, before, "")
	}
}

// roomGiven wakes those who had to leave the workload the room that was kept for
// it. The label is that of the event, empty for none.
func (r *Raw) roomGiven(now time.Time, before *store.Workload, label string) {
	change, priority := freedBy(before.Info), before.Info.Priority
	change.Event.Label = label
	r.offer(now, change, func(w *model.Workload) bool { return w.Priority <= priority })
}

// freedBy is the event of a workload that leaves what it had.
func freedBy(w *extpoints.WorkloadInfo) *extpoints.Change {
	return &extpoints.Change{
		Event:       extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete},
		OldWorkload: w,
	}
}
