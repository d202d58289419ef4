package simulate

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
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
		return n.Labels[key]
	}
	return ""
}

// reserved is told of every workload that is put on a node. What an attempt has
// done is written down before the first of its members is told of.
func (s *sim) reserved(e engine.PlacedEvent) {
	if e.Workload.Group == "" {
		return
	}
	if s.seen == nil {
		s.seen = sightOf(s.raw.View())
	}
	for _, p := range s.seen.checkAttempt(e.Workload.ID) {
		s.fail("%s", p)
	}
}

// decided checks what is said of a group's attempt.
func (s *sim) decided(e engine.GroupEvent) {
	s.reach(fmt.Sprintf("group %v", e.Code))
	switch {
	case e.Placed == 0:
	case e.Group.Disruption == model.DisruptAll:
		s.reach("group that leaves as one placed")
	case e.Group.TopologyKey != "" && e.Placed > 1:
		s.reach("group of one zone placed")
	case e.Group.Parent != "":
		s.reach("group of a tree placed")
	}
	if e.Placed > 0 && e.Unplaced > 0 {
		s.reach("group placed in part")
	}
	switch {
	case e.Code != extpoints.Success && e.Placed > 0:
		s.fail("group %s was not placed, and %d of its members were", e.Group.ID, e.Placed)
	case e.Code == extpoints.Success && e.Message != "":
		s.fail("group %s was placed, and not: %s", e.Group.ID, e.Message)
	}
}

// checkGate: a workload that is held back has a reason to be that holds, and so
// has one that waits for its group.
func (s *sim) checkGate(g *sight, id string) {
	pos := s.cur.positions[id]
	row := s.cur.rows[id]
	root := ""
	if row.Group != "" {
		root = g.root(row.Workload)
	}
	switch {
	case pos.Place == queue.Incomplete && root != "":
		s.fail("%s waits for its group, which is there up to %s", id, root)
	case pos.Place == queue.Gated && root != "" && s.awaitsDeparture(&pos):
	case pos.Place == queue.Gated && !s.gateHolds(g, root, &row, &pos):
		s.fail("%s is held back by %s: %v, for no reason", id, pos.GatingPlugin, pos.Gate)
	}
}

// awaitsDeparture reports whether a member of a tree of groups waits, when room was
// made for it, for the departure of who was evicted, as far as any plugin is
// there to hear of it.
func (s *sim) awaitsDeparture(pos *queue.Position) bool {
	if pos.GatingPlugin != plugins.DefaultPreemption || s.handle.Preemption().UnderWay(pos.ID) {
		return false
	}
	for _, other := range s.cur.positions {
		if other.Group == pos.Group && slices.ContainsFunc(other.UnschedulablePlugins, func(p string) bool { return p != plugins.DefaultPreemption }) {
			return true
		}
	}
	return false
}

// queued reports whether the workload is in the queue: one whose ID is taken again
// while a binding of its predecessor is under way gets there when that has ended.
func (s *sim) queued(w *model.WorkloadRecord) bool {
	_, ok := s.cur.positions[w.ID]
	return ok && w.Phase == model.Pending
}

// gateHolds reports whether anything holds the workload back. Of a tree of groups
// that is anything that holds back one of the members: as long as one is gated the
// others' gates are not asked again.
func (s *sim) gateHolds(g *sight, root string, w *model.WorkloadRecord, pos *queue.Position) bool {
	if root == "" {
		switch pos.GatingPlugin {
		case plugins.SchedulingGates:
			return len(w.Gates) > 0
		case plugins.DynamicResources:
			return s.lacksDeviceClaim(w)
		case plugins.DefaultPreemption:
			return s.heldForRoom(pos)
		}
		return false
	}
	for _, id := range sortedKeys(g.rows) {
		o := g.rows[id]
		at := s.cur.positions[id]
		if o.Phase == model.Pending && g.root(o.Workload) == root && (len(o.Gates) > 0 || s.lacksDeviceClaim(&o) || s.heldForRoom(&at)) {
			return true
		}
	}
	return !g.enough(g.groups[root], func(o *model.WorkloadRecord) bool { return s.queued(o) || isPlaced(o) })
}
