// Package reference runs the real kube-scheduler (k8s.io/kubernetes v1.37.1) in
// this process, one step at a time.
//
// The scheduler is made by scheduler.New with a fake client. Its informers never
// run: a [Scheduler] keeps the objects itself and calls the handlers that
// kube-scheduler has registered, on the goroutine of its caller, as an informer
// would. So the cache, the queue, the lister and all event handling are the real
// ones, and yet nothing happens by itself. What kube-scheduler asks of the API
// server (bindings, deletions, changes of a pod's status) is done to those
// objects at once, and told to the handlers later: what happens to the pod of a
// cycle at the end of it, what happens to others at [Scheduler.Deliver].
//
// What makes it deterministic: parallelism 1, opportunistic batching off, a
// clock that stands still, and waiting for the goroutines that a cycle starts
// (binding, preemption) before it is over. What stays random is listed in the
// README of the module.
package reference
