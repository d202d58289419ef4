// Package scenario has the scenarios: small stories about a cluster that a user of
// Kubernetes can see, one or more for each default plugin and extension point of
// kube-scheduler. Each starts on an empty cluster, starts a scheduler, and looks at
// what happens to its objects through the API alone.
//
// They hold for kube-scheduler 1.37.1 and so must hold for berth-scheduler, word for
// word where there are words: conditions, events, exit codes. Those about what
// berth-scheduler alone can do are left out for the other.
//
//	go test ./scenario                            # berth-scheduler
//	go test ./scenario -scheduler kube            # the real one: proves the scenarios
//	go test ./scenario -run 'Scenarios/preemption'
//	go test ./scenario -short                     # the quick ones
//
// A scenario creates its nodes before it starts the scheduler. A pod that is tried
// while the scheduler knows only some of the nodes has a message about those, and
// nothing needs to wake it later.
//
// Random ones print their BERTH_SEED; the same in the environment draws the
// same. When things happen meanwhile is up to the machine.
package scenario
