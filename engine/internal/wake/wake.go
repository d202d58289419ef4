// Package wake says what a fact means for those that wait: which cluster events it is,
// and to whom they are offered. Facts about nodes, groups, budgets, namespaces and
// objects go by one table (table.go); what a workload's move from one phase to another
// means has a method for each move (workload.go).
package wake

import (
	"time"

	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Waker offers events to the queue.
type Waker struct {
	queue *queue.Queue
	rec   *record.Record
	// reference: nobody is told where kube-scheduler tells nobody.
	reference bool
	// timed calls f, which tells the queue of the event.
	timed func(event extpoints.ClusterEvent, f func())
}

// New returns a waker of the queue. reference has it wake as kube-scheduler 1.37.1
// does, known misses included. timed is called around each event and must call f.
func New(q *queue.Queue, rec *record.Record, reference bool, timed func(event extpoints.ClusterEvent, f func())) *Waker {
	return &Waker{queue: q, rec: rec, reference: reference, timed: timed}
}

// Events of workloads that wait, which the queue is not told of as such.
var (
	workloadUpdated = extpoints.ClusterEvent{Resource: extpoints.UnscheduledWorkload, Action: extpoints.Update}
	workloadDeleted = extpoints.ClusterEvent{Resource: extpoints.UnscheduledWorkload, Action: extpoints.Delete}
)

// offer offers a change in the cluster to those who wait, or to those of them that but
// lets through; see [queue.Queue.Move].
func (w *Waker) offer(now time.Time, change *extpoints.Change, only func(*model.Workload) bool) {
	w.timed(change.Event, func() { w.queue.Move(now, change, only) })
}

// event is the event of something that came, went, or changed.
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
