// Package podgrouppodscount is the plugin PodGroupPodsCount: among the placements
// of a group it prefers those that have room for more of its members. Members
// that are on nodes already count as well, so that one member more or less
// matters less to a group that is nearly complete.
//
// # Points
//
//	PlacementScore, PlacementScoreNormalizer
//
// # Events
//
//	none
//
// # Signature
//
//	none needed
//
// # Parity
//
// Rules: kube-scheduler plugins/podgrouppodscount/podgroup_pods_count.go, 1.37.1. Of
// equal placements the engine takes the first; kube-scheduler draws one.
package podgrouppodscount
