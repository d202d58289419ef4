// Package networkoverhead is the plugin NetworkOverhead: workloads of an application stay off
// nodes that are too far from the ones that they talk to, and prefer those to which the costs of
// the network are low.
//
// Labels say of which application a workload is and of which of its components
// ([helper.AppLabels]); the application's [model.AppGraph] says which components talk to which, and
// up to which cost two places are close enough. The costs are [model.NetworkCosts]: between
// two nodes they are those of the first level in which the nodes differ. Nodes that differ in
// none cost 1, and the same node nothing; both are close, whatever the cost may be. Where a cost
// is not known it is 100, and the two are neither close nor far. What is on a node that is in no
// place is far from all other nodes, at 100.
//
// The filter rejects nodes that are far from more workloads than they are close to. The score is
// the sum of the costs to all of them. What preemption tries out counts, too. Where nothing is
// known, be it the graph, the costs, or where those are whom the workload talks to, all nodes are as
// good, and score 0.
//
// # Points
//
//	PreFilter, Filter, Score, PreFilterExtensions, ScoreNormalizer
//
// # Events
//
//	AssignedWorkload/Add|Delete|UpdateWorkloadLabel
//	AppGraph/All
//	NetworkCosts/All
//	Node/Add|Delete|UpdateNodeLabel
//	TargetWorkload/UpdateWorkloadLabel
//
// # Signature
//
//	Application
//
// # Parity
//
// kube-scheduler has no such plugin. The rules are those of kubernetes-sigs/
// scheduler-plugins, pkg/networkaware/networkoverhead, commit 903da7df. What is different:
//
//   - There a graph or costs that are missing end the process, and a node that is missing fails
//     the cycle. Costs that are not among the weights of the first topology of the name are all
//     unknown; here they are looked up in the other namespaces, and then missing.
//   - There what preemption tries out changes nothing.
//   - There pods that have ended count, as long as they are there.
//   - There everything wakes what was rejected; here what can help.
//   - There the reason names the node and the numbers, so that no two are alike; with
//     extpoints.KubeScheduler137 here, too.
package networkoverhead
