// Package interpodaffinity is the plugin InterPodAffinity: a workload goes
// where the workloads are that it must or would rather be near, and stays away
// from those that it must not or would rather not be near. Near means that the
// two nodes have the same value of a label, the topology key of the term.
//
// Both sides have a say. What the incoming workload requires or prefers is
// held against the labels of the workloads that are on nodes, and what those
// require or prefer against the labels of the incoming one:
//
//	term                      of the incoming workload      of the others
//	required affinity         Filter                        Score, HardPodAffinityWeight
//	required anti-affinity    Filter                        Filter
//	preferred affinity        Score, +weight                Score, +weight
//	preferred anti-affinity   Score, -weight                Score, -weight
//
// Workloads on their way out count like all others.
//
// No workload is looked at by itself. The view's index knows how many alike are
// on which node; PreFilter and PreScore add those numbers up by the value of
// the topology key, and Filter and Score look their node's value up. What
// PreFilter made is never changed afterwards: a clone of the state, of which
// there is one for every node on which others are nominated or might be
// displaced, shares it and writes down only what is different for it.
//
// Rules: kube-scheduler plugins/interpodaffinity, 1.37.1, with the feature gate
// InterPodAffinityHostnameFastPath off, which is its default; and k8s.io/
// kube-scheduler framework/types.go, 0.37.1, for what a term selects. Where the
// reference finds a selector that it cannot parse, it fails the cycle. Here
// such a term does not pass the validation of workloads; if it gets here all
// the same, its selector selects nothing, and its namespace selector no
// namespace.
package interpodaffinity
