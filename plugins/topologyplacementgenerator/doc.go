// Package topologyplacementgenerator is the plugin TopologyPlacementGenerator:
// for a group with a topology key it makes one placement for each value that the
// nodes have of that label, so that all members go to nodes of one value. If some
// members are on nodes already, only the value of those nodes is tried. A group
// without a key may use every node that its parent may use.
//
// # Points
//
//	PlacementGenerate
//
// # Events
//
//	every event
//
// It registers for none, so every event may change its mind.
//
// # Signature
//
//	none needed
//
// # Parity
//
// Rules: kube-scheduler plugins/topologyaware/topology_placement.go, 1.37.1. The
// placements are in the order in which their values first appear among the nodes.
// The order is random in kube-scheduler; this one is among those that it can have.
package topologyplacementgenerator
