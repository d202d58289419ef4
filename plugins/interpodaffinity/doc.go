// Package interpodaffinity is the plugin InterPodAffinity: a workload is placed near
// workloads that its affinity selects, and away from those that its anti-affinity
// selects. Near means that both nodes have the same value of a label, the topology
// key of the term.
//
// Terms count in both directions: those of the incoming workload are matched with the
// labels of workloads on nodes, and those of workloads on nodes with the labels of
// the incoming one.
//
//	term                      of the incoming workload      of the others
//	required affinity         Filter                        Score, HardPodAffinityWeight
//	required anti-affinity    Filter                        Filter
//	preferred affinity        Score, +weight                Score, +weight
//	preferred anti-affinity   Score, -weight                Score, -weight
//
// Terminating workloads count like all others.
//
// The plugin does not visit workloads one by one. The view's index has their number
// by class and node; PreFilter and PreScore sum those numbers by the value of the
// topology key, and Filter and Score look up the value of their node. The result of
// PreFilter is never changed afterwards. A clone of the state (there is one for each
// node with nominated workloads or possible victims) shares it and records only its
// own differences.
//
// # Points
//
//	PreFilter, Filter, PreScore, Score, PreFilterExtensions, ScoreNormalizer
//
// # Events
//
//	AssignedWorkload/Add|Delete|UpdateWorkloadLabel
//	TargetWorkload/UpdateWorkloadLabel
//	Node/Add|UpdateNodeLabel
//	Node/Delete (Improved)
//	Namespace/All (Improved)
//
// # Signature
//
//	Labels
//	Namespace
//	(refuses some workloads)
//
// A workload with affinity or anti-affinity of its own is not signed.
//
// # Parity
//
// Rules: kube-scheduler plugins/interpodaffinity/plugin.go, filtering.go and
// scoring.go, 1.37.1, with the feature gate InterPodAffinityHostnameFastPath off,
// which is its default; and k8s.io/kube-scheduler framework/types.go, 0.37.1, for what
// a term selects. A selector that cannot be parsed fails the cycle there. Here it does
// not pass the validation of workloads; if it reaches the plugin all the same, it
// selects nothing. With extpoints.Improved more events wake workloads; see
// extpoints.Compat.
package interpodaffinity
