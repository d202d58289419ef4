package wake

import (
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Submitted lets a workload into the queue.
func (w *Waker) Submitted(now time.Time, info *extpoints.WorkloadInfo) {
	w.meter.Offering(queue.WorkloadAdded, func() {
		w.queue.Add(now, info)
		if info.Group != "" {
			w.awaited(now, info)
		}
	})
}

// awaited tells those that wait of a new member of a group: it may be the one
// that they have waited for. (kube-scheduler eventhandlers.go
// addPodToSchedulingQueue, 1.37.1.)
func (w *Waker) awaited(now time.Time, info *extpoints.WorkloadInfo) {
	w.queue.Move(now, &extpoints.Event{ClusterEvent: queue.WorkloadAdded, NewWorkload: info}, nil)
}

// Changed follows a change of a workload that waits: others may depend on it, and it
// may fit now itself.
func (w *Waker) Changed(now time.Time, before, after *store.Workload) {
	w.meter.Offering(workloadUpdated, func() {
		w.queue.Update(now, before.Info, after.Info)
		if after.Info.Group != "" && before.Info.Group != after.Info.Group {
			w.awaited(now, after.Info)
		}
	})
	if after.NominatedTo() != "" && w.compat == extpoints.Improved && !after.Info.AlikeTo(before.Info.Workload) {
		w.roomGiven(now, before, queue.RoomGivenUp) // others may have to leave it less room, or none any more
	}
}

// Withdrawn takes a workload that waits out of the queue.
func (w *Waker) Withdrawn(id string) {
	w.meter.Offering(workloadDeleted, func() { w.queue.Delete(id) })
}

// Arrived wakes those who wait for a workload to be on a node: when it is
// bound, or confirmed if that comes first.
func (w *Waker) Arrived(now time.Time, info *extpoints.WorkloadInfo) {
	w.offer(now, &extpoints.Event{
		ClusterEvent: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Add},
		NewWorkload:  info,
	}, nil)
}

// Updated follows a change of a workload that is on a node. To those of the group
// that it joins it has arrived.
func (w *Waker) Updated(now time.Time, before, after *store.Workload) {
	if before.Info.Group != after.Info.Group {
		w.Arrived(now, after.Info)
	}
	for _, e := range extpoints.EventsForWorkloadUpdate(before.Info.Workload, after.Info.Workload, extpoints.AssignedWorkload) {
		w.offer(now, &extpoints.Event{ClusterEvent: e, OldWorkload: before.Info, NewWorkload: after.Info, WorkloadNode: after.Node}, nil)
	}
}

// Freed wakes those who may use the room that a workload leaves, or that was
// kept for it by a nomination: in the second case only those that had to leave
// it that room (kube-scheduler eventhandlers.go, 1.37.1).
func (w *Waker) Freed(now time.Time, before *store.Workload) {
	switch {
	case before.TakesRoomOn() != "":
		w.offer(now, freedBy(before.Info, before.Node), nil)
	case before.NominatedTo() != "":
		w.roomGiven(now, before, "")
	}
}

// Returned wakes those who may use what was reserved for a binding to the node that has
// failed, or was called off. only is as for [queue.Queue.Move].
func (w *Waker) Returned(now time.Time, info *extpoints.WorkloadInfo, node string, only func(*model.Workload) bool) {
	w.queue.Move(now, freedBy(info, node), only)
}

// PlacedElsewhere wakes those who had to leave room on one node to a workload that has
// been placed on another. kube-scheduler wakes nobody.
func (w *Waker) PlacedElsewhere(now time.Time, before *store.Workload) {
	if w.compat == extpoints.Improved {
		w.roomGiven(now, before, queue.RoomGivenUp)
	}
}

// LostRoom wakes a workload for which it may not be worth waiting any more for the room that is
// kept for it, and nobody else. kube-scheduler does not.
func (w *Waker) LostRoom(now time.Time, holder *extpoints.WorkloadInfo) {
	w.offer(now, &extpoints.Event{ClusterEvent: roomLost, NewWorkload: holder}, nil)
}

// roomGiven wakes those who had to leave the workload the room that was kept for
// it. The label is that of the event, empty for none.
func (w *Waker) roomGiven(now time.Time, before *store.Workload, label string) {
	change, priority := freedBy(before.Info, before.NominatedTo()), before.Info.Priority
	change.ClusterEvent.Label = label
	w.offer(now, change, func(other *model.Workload) bool {
		return other.Priority <= priority || w.queue.KeepsRoom(before.Info.Workload, other)
	})
}

// freedBy is the event of a workload that leaves what it had on the node.
func freedBy(info *extpoints.WorkloadInfo, node string) *extpoints.Event {
	return &extpoints.Event{
		ClusterEvent: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete},
		OldWorkload:  info, WorkloadNode: node,
	}
}

// Moved wakes those who may use what a workload had that has been seen on another node
// than the one that was chosen, or kept, for it.
func (w *Waker) Moved(now time.Time, before *store.Workload, node string) {
	switch kept := before.NominatedTo(); {
	case kept == node:
	case kept != "" && w.compat == extpoints.KubeScheduler137:
	default:
		w.Freed(now, before)
	}
}
