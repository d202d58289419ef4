// Package podtopologyspread is the plugin PodTopologySpread: it keeps the
// workloads that a spread constraint selects evenly distributed over the values
// of a node label, such as zones or hosts.
//
// For a constraint, the nodes with the same value of its topology key are one
// domain. What counts in a domain are the workloads on its nodes that are in
// the namespace of the workload to be placed, that the selector selects, and
// that are not on their way out. Nodes that lack the key of any constraint of
// the same mode, or that the constraint's inclusion policies rule out, are in
// no domain.
//
//   - A required constraint rules out a node if the workload would make the
//     count of the node's domain exceed the smallest count of any domain by
//     more than MaxSkew.
//   - A preferred constraint scores a node the higher the less is in its
//     domain.
//
// A workload without constraints of its own gets those of the plugin's [Args],
// which count the workloads that its OwnerSelector selects.
//
// Nothing here visits the workloads of the cluster: the view's index has the
// counts by node, and a decision adds them up by domain.
package podtopologyspread
