// Package wake says what a fact means for those that wait: which cluster events it is,
// and to whom they are offered. Facts about nodes, groups, budgets, namespaces and
// objects go by one table (table.go); what a workload's move from one phase to another
// means has a method for each move (workload.go).
package wake

import (
	"time"

	"github.com/berth-project/berth/engine/internal/observe"
	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Waker offers events to the queue.
type Waker struct {
	queue  *queue.Queue
	rec    *record.Record
	compat extpoints.Compat
	meter  *observe.Meter
}

// New returns a waker of the queue. The meter is told of each event.
func New(q *queue.Queue, rec *record.Record, compat extpoints.Compat, meter *observe.Meter) *Waker {
	return &Waker{queue: q, rec: rec, compat: compat, meter: meter}
}

// Events of workloads that wait, which the queue is not told of as such.
var (
	workloadUpdated = extpoints.ClusterEvent{Resource: extpoints.UnscheduledWorkload, Action: extpoints.Update}
	workloadDeleted = extpoints.ClusterEvent{Resource: extpoints.UnscheduledWorkload, Action: extpoints.Delete}
)

// roomLost is for one workload only, whatever it was rejected by.
var roomLost = extpoints.ClusterEvent{Resource: extpoints.AnyResource, Action: extpoints.AllActions, Label: queue.RoomLost}

// offer offers a change in the cluster to those who wait, or to those of them that but
// lets through; see [queue.Queue.Move].
func (w *Waker) offer(now time.Time, change *extpoints.Event, only func(*model.Workload) bool) {
	w.meter.Offering(change.ClusterEvent, func() { w.queue.Move(now, change, only) })
}

// event is the event of something that came, went, or changed.
func event(resource model.ObjectKind, before, after bool) extpoints.ClusterEvent {
	e := extpoints.ClusterEvent{Resource: resource, Action: extpoints.Update}
	switch {
	case !before:
		e.Action = extpoints.Add
	case !after:
		e.Action = extpoints.Delete
	}
	return e
}
