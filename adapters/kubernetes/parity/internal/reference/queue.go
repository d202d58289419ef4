package reference

import (
	"reflect"
	"unsafe" // also for go:linkname

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
)

// The queue's periodic work is only reachable through Run, which does it on
// goroutines of its own by the real time. These are its two parts.

//go:linkname flushBackoff k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushBackoffQCompleted
func flushBackoff(q *queue.PriorityQueue, logger klog.Logger)

//go:linkname flushUnschedulable k8s.io/kubernetes/pkg/scheduler/backend/queue.(*PriorityQueue).flushUnschedulableEntitiesLeftover
func flushUnschedulable(q *queue.PriorityQueue, logger klog.Logger)

// FlushBackoff does what kube-scheduler does every second: it moves the pods
// whose backoff has ended to the active queue.
func (s *Scheduler) FlushBackoff() { flushBackoff(s.Queue(), s.logger) }

// FlushUnschedulable does what kube-scheduler does every 30 seconds: it moves
// the pods that have waited for an event for too long.
func (s *Scheduler) FlushUnschedulable() { flushUnschedulable(s.Queue(), s.logger) }

// Queue is the scheduling queue.
func (s *Scheduler) Queue() *queue.PriorityQueue {
	return s.Scheduler.SchedulingQueue.(*queue.PriorityQueue)
}

//go:linkname lenBackoff k8s.io/kubernetes/pkg/scheduler/backend/queue.(*backoffQueue).lenBackoff
func lenBackoff(q unsafe.Pointer) int

// Ready reports whether there is something to be scheduled: what is active, or
// what backs off after a rejection, which may be taken where nothing is active.
// What backs off after an error may not.
func (s *Scheduler) Ready() bool {
	q := s.Queue()
	backoff := reflect.ValueOf(q).Elem().FieldByName("backoffQ")
	return len(q.PodsInActiveQ()) > 0 || lenBackoff(backoff.Elem().UnsafePointer()) > 0
}
