package topologyplacementgenerator

import (
	"fmt"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Name is the plugin's name.
const Name = "TopologyPlacementGenerator"

// TopologyPlacementGenerator is the plugin. It has no state.
type TopologyPlacementGenerator struct{}

// New is the plugin's [extpoints.Factory]. It takes no arguments.
func New(args any, _ extpoints.Handle) (extpoints.Plugin, error) {
	if err := extpoints.NoArgs(Name, args); err != nil {
		return nil, err
	}
	return &TopologyPlacementGenerator{}, nil
}

// Name returns the plugin's name.
func (*TopologyPlacementGenerator) Name() string { return Name }

// GeneratePlacements splits the parent's nodes by the value of the group's
// topology key. It may come to no placement at all. Members that are on nodes
// with several values, or on one without the label, are an error.
func (*TopologyPlacementGenerator) GeneratePlacements(s *extpoints.CycleState, g *extpoints.GroupInfo, parent *extpoints.Placement) ([]extpoints.Placement, *extpoints.Status) {
	key := g.TopologyKey
	if key == "" {
		return []extpoints.Placement{*parent}, nil
	}
	d := domain{key: key, nodes: s.View().Nodes()}
	if err := d.ofGroup(s.View().Groups(), g.Group); err != nil {
		return nil, extpoints.AsStatus(fmt.Errorf("cannot determine domain for already scheduled pods: %w", err))
	}
	return split(parent.Nodes, key, &d), nil
}

// split makes a placement of the nodes of each value of the key, or of the one
// that is asked for. All placements share one list of nodes.
func split(nodes []*extpoints.NodeInfo, key string, only *domain) []extpoints.Placement {
	var placements []extpoints.Placement
	index := map[string]int{}           // of the placement, by value
	where := make([]int, 0, len(nodes)) // the placement of each node, -1 for none
	var sizes []int                     // of the placements
	for _, n := range nodes {
		value, ok := n.Node.Labels[key]
		if !ok || only.known && value != only.value {
			where = append(where, -1)
			continue
		}
		i, ok := index[value]
		if !ok {
			i = len(placements)
			index[value] = i
			placements, sizes = append(placements, extpoints.Placement{Name: value}), append(sizes, 0)
		}
		sizes[i]++
		where = append(where, i)
	}
	all := make([]*extpoints.NodeInfo, len(nodes))
	for i, size := range sizes {
		placements[i].Nodes, all = all[:0:size], all[size:]
	}
	for at, i := range where {
		if i >= 0 {
			placements[i].Nodes = append(placements[i].Nodes, nodes[at])
		}
	}
	return placements
}

// domain is the value of the key that the members on nodes have settled on.
type domain struct {
	key   string
	nodes extpoints.Nodes
	value string
	known bool // some member is on a node
}

// ofGroup takes in the members of a group, for a group of groups those of all
// groups below it.
func (d *domain) ofGroup(groups extpoints.Groups, g *model.Group) error {
	for _, child := range groups.Children(g.ID) {
		if err := d.ofGroup(groups, child); err != nil {
			return err
		}
	}
	for _, m := range groups.Placed(g.ID) {
		if err := d.ofMember(&m); err != nil {
			return err
		}
	}
	return nil
}

// ofMember takes in one member. A value that is empty counts as none as soon as
// there is another, as in the reference.
func (d *domain) ofMember(m *extpoints.PlacedMember) error {
	node := d.nodes.Get(m.Node)
	if node == nil {
		return fmt.Errorf("getting node for pod %s: nodeinfo not found for node name %q", m.DisplayName(), m.Node)
	}
	value, ok := node.Node.Labels[d.key]
	if !ok {
		return fmt.Errorf("no topology domain found for pod %s", m.DisplayName())
	}
	if d.value != "" && d.value != value {
		return fmt.Errorf("more than 1 domain found for pod group: %s, %s", d.value, value)
	}
	d.value, d.known = value, true
	return nil
}

var _ extpoints.PlacementGeneratePlugin = (*TopologyPlacementGenerator)(nil)
