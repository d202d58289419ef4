// Package podtopologyspread is the plugin PodTopologySpread: it keeps the
// workloads that a spread constraint selects evenly distributed over the values
// of a node label, such as zones or hosts.
//
// For a constraint, the nodes with the same value of its topology key are one
// domain. What counts in a domain are the workloads on its nodes that are in
// the namespace of the workload to be placed, that the selector selects, and
// that are not terminating. Nodes that lack the key of any constraint of
// the same mode, or that the constraint's inclusion policies rule out, are in
// no domain.
//
//   - A required constraint rules out a node if the workload would make the
//     count of the node's domain exceed the smallest count of any domain by
//     more than MaxSkew.
//   - A preferred constraint scores a node higher if fewer are in its domain.
//
// A workload without constraints of its own gets those of the plugin's [Args],
// which count the workloads that its OwnerSelector selects.
//
// Nothing here visits the workloads of the cluster: the view's index has the
// counts by node, and a decision adds them up by domain.
//
// # Points
//
//	PreFilter, Filter, PreScore, Score, PreFilterExtensions, ScoreNormalizer
//
// # Events
//
//	AssignedWorkload/All (Improved)
//	TargetWorkload/UpdateWorkloadLabel|UpdateWorkloadToleration
//	Node/Add|Delete|UpdateNodeLabel|UpdateNodeTaint
//	AssignedWorkload/Add|Delete|UpdateWorkloadLabel (KubeScheduler137)
//
// # Signature
//
//	(refuses some workloads)
//
// A workload with spread constraints, its own or the default ones, is not signed.
// Nothing else matters to the plugin.
//
// # Parity
//
// Rules: kube-scheduler plugins/podtopologyspread/plugin.go, common.go, filtering.go
// and scoring.go, 1.37.1. No differences in verdicts and scores. A workload carries
// its owner's selector ([model.Workload].OwnerSelector); the reference looks it up
// when the pod is scheduled. With extpoints.Improved more events wake workloads; see
// extpoints.Compat.
package podtopologyspread
