// Package topologyplacementgenerator is the plugin TopologyPlacementGenerator:
// for a group with a topology key it makes one placement for each value that the
// nodes have of that label, so that all members go to nodes of one value. Where
// members are on nodes already theirs is the only value. A group without a key
// may go wherever its parent may.
//
// The placements are in the order in which their values come up among the nodes.
// In kube-scheduler the order is a matter of chance; this one is among those that
// it could have had, and is always the same.
//
// Rules: kube-scheduler plugins/topologyaware/topology_placement.go, 1.37.1.
package topologyplacementgenerator
