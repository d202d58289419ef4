// Package placements compares what kube-scheduler 1.37.1 and berth-scheduler decide:
// the real programs, each over a control plane of its own, are given the same
// sequences of pods on the same random clusters, and must put every pod on the same
// node, or say the same about it: conditions, events, nominations and victims.
//
// The clusters are those of the parity module's decision level, which compares the
// same in one process (package generate there draws them). Here they go through the
// API server: what it does not let in is made fit, see fit.go. Clusters are left out
// that are so large that not all of their nodes are looked at.
//
//	go test ./placements                       # some hundred cases
//	go test ./placements -short                # some dozen
//	go test ./placements -seed 7 -cases 1000
//	go test ./placements -seed 7 -from 93 -cases 1
//
// kube-scheduler's decision is a function of what it is given, with these precautions:
//
//   - It breaks ties by the order in which it has found the nodes: with parallelism 1
//     that is the order of the nodes, which comes from the order of their creation.
//   - The search starts where the last one ended. It ends where it started unless a
//     pod names the nodes that it can be on, and starts at the first node again after
//     an attempt in a cluster of one node: every case begins with one.
//   - A pod that made others go is tried again whenever one of them changes, however
//     often: if it names nodes, the case ends with it.
//   - Pods come one after the other, and one that cannot be placed is taken away, so
//     that nobody is woken. One whose victims are several goes as well: between the
//     first and the last of them anything may happen.
//   - Among equally good victims those decide that started last: no two pods have
//     started in the same second.
//   - Changes of pods reach a scheduler in their order, those of different kinds of
//     objects do not: nodes only come at the beginning of a case, and are waited for
//     with a pod that fits nowhere, whose message says how many there are. Budgets,
//     services and the rest are there before the schedulers are, for several cases.
//   - Batching, which goes by the time, is off.
package placements
