// Package podgrouppodscount is the plugin PodGroupPodsCount: among the placements
// of a group it prefers those that have room for more of its members. Members
// that are on nodes already count as well, so that one member more or less
// matters less to a group that is nearly complete.
//
// Rules: kube-scheduler plugins/podgrouppodscount/podgroup_pods_count.go, 1.37.1.
package podgrouppodscount
