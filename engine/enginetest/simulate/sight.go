package simulate

import (
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// sight is what can be seen of groups and members at one moment.
type sight struct {
	groups map[string]*model.Group
	rows   map[string]model.WorkloadRecord
	nodes  map[string]*model.Node
}

// sightOf looks at groups and members.
func sightOf(v *engine.View) *sight {
	g := &sight{map[string]*model.Group{}, map[string]model.WorkloadRecord{}, map[string]*model.Node{}}
	for group := range v.Groups() {
		g.groups[group.ID] = group.Group
	}
	for row := range v.Workloads() {
		if row.Group != "" {
			g.rows[row.ID] = row
		}
	}
	for n := range v.Nodes() {
		g.nodes[n.Name] = n.Node
	}
	return g
}

// above lists the group and those above it, the highest last; nil where one of
// them is not there.
func (g *sight) above(id string) (path []*model.Group) {
	for id != "" {
		group := g.groups[id]
		if group == nil || group.Composite != (len(path) > 0) {
			return nil
		}
		path = append(path, group)
		id = group.Parent
	}
	return path
}

// root is the ID of the highest group above a workload's, empty where not all are
// there.
func (g *sight) root(w *model.Workload) string {
	if path := g.above(w.Group); path != nil {
		return path[len(path)-1].ID
	}
	return ""
}

// below reports whether the workload is a member of the group or of one below it.
func (g *sight) below(w *model.Workload, group string) bool {
	for id := w.Group; id != ""; {
		if id == group {
			return true
		}
		above := g.groups[id]
		if above == nil {
			return false
		}
		id = above.Parent
	}
	return false
}

// enough reports whether enough members of the group count, or enough of the
// groups below it have enough.
func (g *sight) enough(group *model.Group, counts func(*model.WorkloadRecord) bool) bool {
	need, n := int32(1), int32(0)
	if group.Policy == model.Gang {
		need = group.MinCount
	}
	for _, child := range g.groups {
		if group.Composite && child.Parent == group.ID && g.enough(child, counts) {
			n++
		}
	}
	for _, row := range g.rows {
		if !group.Composite && row.Group == group.ID && counts(&row) {
			n++
		}
	}
	return n >= need
}

func isPlaced(w *model.WorkloadRecord) bool { return w.Phase.TakesRoom() && w.Node != "" }

// checkAttempt: a member that has just been put on a node is there with enough
// others, and all of them where its groups want them.
func (g *sight) checkAttempt(id string) (p problems) {
	row := g.rows[id]
	path := g.above(row.Group)
	if path == nil {
		p.add("%s was put on %s, and its group %s is not there", id, row.Node, row.Group)
	}
	for _, group := range path {
		if !g.enough(group, isPlaced) {
			p.add("%s was put on %s, and its group %s has too few members on nodes", id, row.Node, group.ID)
		}
		if group.TopologyKey == "" {
			continue
		}
		for _, other := range sortedKeys(g.rows) {
			o := g.rows[other]
			if !isPlaced(&o) || !g.below(o.Workload, group.ID) {
				continue
			}
			if a, b := g.value(row.Node, group.TopologyKey), g.value(o.Node, group.TopologyKey); a == "" || a != b {
				p.add("%s was put on %s, %s %q, and %s of the same group is on %s, %q", id, row.Node, group.TopologyKey, a, other, o.Node, b)
			}
		}
	}
	return p
}

func (g *sight) value(node, key string) string {
	if n := g.nodes[node]; n != nil {
		value, _ := n.TopologyValue(key)
		return value
	}
	return ""
}

// wholeOf is the highest group above the workload that leaves as one; empty for
// none.
func (g *sight) wholeOf(w *model.Workload) (whole string) {
	for _, group := range g.above(w.Group) {
		if group.Disruption == model.DisruptAll {
			whole = group.ID
		}
	}
	return whole
}
