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

// New makes the plugin. It takes no arguments.
func New(_ extpoints.NoArgs, _ extpoints.Handle) (*TopologyPlacementGenerator, error) {
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
		return nil, extpoints.AsStatus(fmt.Errorf("cannot determine domain for already scheduled workloads: %w", err))
	}
	return split(parent.Nodes, s.View().Index().Topology(key), &d), nil
}

// split makes a placement of the nodes of each domain of the topology, or of the one
// that is asked for. All placements share one list of nodes.
func split(nodes []*extpoints.NodeInfo, t *extpoints.Topology, only *domain) []extpoints.Placement {
	sizes := make([]int, len(t.Values)) // by domain; the first is none
	var found []int32                   // the domains, in the order of the nodes
	for _, n := range nodes {
		d := t.Of[n.Slot]
		if d == 0 || only.known && t.Values[d] != only.value {
			continue
		}
		if sizes[d] == 0 {
			found = append(found, d)
		}
		sizes[d]++
	}
	placements := make([]extpoints.Placement, len(found))
	index := make([]int, len(t.Values)) // of the placement, counted from 1
	all := make([]*extpoints.NodeInfo, len(nodes))
	for i, d := range found {
		index[d] = i + 1
		placements[i] = extpoints.Placement{Name: t.Values[d], Nodes: all[:0:sizes[d]]}
		all = all[sizes[d]:]
	}
	for _, n := range nodes {
		if i := index[t.Of[n.Slot]]; i > 0 {
			placements[i-1].Nodes = append(placements[i-1].Nodes, n)
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
		return fmt.Errorf("getting node for workload %s: nodeinfo not found for node name %q", m.DisplayName(), m.Node)
	}
	value, ok := node.Node.TopologyValue(d.key)
	if !ok {
		return fmt.Errorf("no topology domain found for workload %s", m.DisplayName())
	}
	if d.value != "" && d.value != value {
		return fmt.Errorf("more than 1 domain found for group: %s, %s", d.value, value)
	}
	d.value, d.known = value, true
	return nil
}

var _ extpoints.PlacementGeneratePlugin = (*TopologyPlacementGenerator)(nil)
