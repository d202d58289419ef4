// Package kubernetes is Berth's adapter for Kubernetes: it tells an engine what is in
// a cluster, and makes true there what the engine decides, as kube-scheduler 1.37.1
// does. Package app, below it, makes a drop-in for kube-scheduler of it; a program that
// links the engine uses [Adapter].
//
// # What is where
//
//   - adapter.go: the [Adapter], its options and its life. watch.go, objects.go,
//     pods.go and owners.go say what is watched and what the engine is told of it,
//     inbox.go in which order, compare.go what happens where something was missed.
//   - orchestrator.go, volumes.go, devices.go: what is written before a pod is on its
//     node. listener.go, statuses.go, events.go: what is written besides, behind it.
//   - convert turns Kubernetes' objects into the model: every field that a decision
//     of kube-scheduler reads, and a test that says of every other field why it may be
//     left out. cel evaluates the selectors of devices.
//   - words renders what the engine says in kube-scheduler's words.
//   - config loads kube-scheduler's configuration files, metrics counts under its
//     metrics' names, app and cmd/berth-scheduler are the command.
//
// # What is told, and when
//
// Reports of the informers are collected, and told to the engine in one transaction
// for all that have come. Pods on nodes are adopted or confirmed, others submitted if
// they are for one of the engine's profiles. A pod that cannot be parsed is
// not tried; its condition and an event say why, and after a change it is read again.
//
// # What is written, and how
//
// A binding is written by the goroutine of the engine that asks for it, and tried again
// where the API server is busy or the answer is lost: that the pod is on its node
// already is a success. Conditions and nominated nodes are written behind, several at
// once, of several changes for one pod only the last; a binding waits for the one that
// is being written for its pod. Events follow behind bindings and none is lost while
// the process lives.
//
// # Known differences
//
//   - A pod whose terms cannot be parsed is never tried; kube-scheduler tries it in vain.
//   - The victim of a preemption that waits on Permit or is being bound goes back to the
//     queue without an event.
//
// The module is separate because the libraries of Kubernetes are heavy: a program that
// links only Berth's engine does not depend on them.
package kubernetes
