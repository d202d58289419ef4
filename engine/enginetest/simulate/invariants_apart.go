package simulate

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// checkKept: a workload that has just been put on a node leaves the room that is
// kept there for those that were nominated to it and that it may not displace.
func (o *observed) checkKept(before *observed, row *model.WorkloadRecord, u *usage) (p problems) {
	node := o.nodes[row.Node]
	if node == nil {
		return p
	}
	all := u.requested.Clone()
	workloads := int64(len(u.workloads))
	g := &sight{groups: o.groups}
	root := g.root(row.Workload)
	for _, id := range before.ids {
		other := before.rows[id]
		now := o.rows[id]
		if root != "" && g.root(other.Workload) == root {
			continue // within a tree of groups nothing is kept for one member
		}
		if other.Phase == model.Pending && now.Phase == model.Pending && id != row.ID && other.Workload == now.Workload &&
			other.Nominated == row.Node && now.Nominated == row.Node && other.Priority >= row.Priority {
			all.Add(&other.Requests)
			workloads++
		}
	}
	for _, name := range row.Requests.Names() {
		if name != cardResource && row.Requests.Get(name) > 0 && all.Get(name) > node.Allocatable.Get(name) {
			p.add("%s was put on %s, where %s is kept for others", row.ID, row.Node, name)
		}
	}
	if workloads > mostWorkloads(node) {
		p.add("%s was put on %s, where a place is kept for others", row.ID, row.Node)
	}
	return p
}

// checkRoomKept: room is kept on a node for nobody who was tried and waits for an event, unless
// somebody is to leave so that there is room, or a plugin keeps it that needs no reason. Others
// would be thought to fit nowhere for the sake of that room.
func (s *sim) checkRoomKept() {
	for _, id := range s.cur.ids {
		row, pos := s.cur.rows[id], s.cur.positions[id]
		since, outside := s.nominated[id]
		switch {
		case s.cur.nodes[row.Nominated] == nil || row.Phase != model.Pending || row.Labels["nominate"] != "":
		case pos.Place != queue.Unschedulable || outside && pos.Attempts <= since:
		case !s.someoneLeaves(row.Nominated, id):
			s.fail("room is kept for %s on %s, and nobody is leaving: it waits because of %v", id, row.Nominated, pos.UnschedulablePlugins)
		}
	}
}

// someoneLeaves reports whether a workload is on its way off the node, or off another for the
// sake of the one that waits (the last victim is asked when the others have accepted, and of a
// group that is displaced as one it may be the only one on the node), or a binding that was
// called off has not ended.
func (s *sim) someoneLeaves(node, waits string) bool {
	ends := func(t *simTask) bool {
		return t.node == node && (t.evicts || t.stopped || t.abandoned) || t.evicts && s.leavesFor(t.id, waits)
	}
	return slices.ContainsFunc(s.tasks, ends) || slices.ContainsFunc(s.cur.ids, func(id string) bool {
		row := s.cur.rows[id]
		asked := row.Node != "" && s.evictions[id] == row.Node
		return row.Node == node && (asked || row.Phase == model.Terminating) || asked && s.roomFor[id] == waits
	})
}

// leavesFor reports whether the workload was asked to leave for the sake of the one that waits, or
// another of its group was: where they leave as one, and it was asked for somebody else before, nobody
// is told.
func (s *sim) leavesFor(id, waits string) bool {
	groupOf := func(id string) string {
		if row, there := s.cur.rows[id]; there {
			return row.Group
		}
		return ""
	}
	group := groupOf(id)
	for other, by := range s.roomFor {
		if by == waits && (other == id || group != "" && groupOf(other) == group) {
			return true
		}
	}
	return false
}

// checkApart: a workload that has just been put on a node is in no domain with
// workloads that it, or they, must be kept apart from.
func (o *observed) checkApart(row *model.WorkloadRecord) (p problems) {
	for _, id := range o.ids {
		other := o.rows[id]
		if id == row.ID || !other.Phase.TakesRoom() || o.nodes[other.Node] == nil {
			continue
		}
		if o.keptApart(row, &other) || o.keptApart(&other, row) {
			p.add("%s was put on %s, and must be kept apart from %s on %s", row.ID, row.Node, id, other.Node)
		}
	}
	return p
}

// keptApart reports whether a required term of a keeps b out of its domain.
func (o *observed) keptApart(a, b *model.WorkloadRecord) (apart bool) {
	from, to := o.nodes[a.Node], o.nodes[b.Node]
	if from == nil || to == nil {
		return false
	}
	extpointstest.EachTerm(a.Workload, func(kind extpoints.TermKind, _ int32, t *model.AffinityTerm) {
		here, ok := from.TopologyValue(t.TopologyKey)
		there, known := to.TopologyValue(t.TopologyKey)
		if kind == extpoints.RequiredAntiAffinityTerm && ok && known && here == there &&
			slices.Contains(t.Namespaces, b.Namespace) && t.Selector.Matches(b.Labels) {
			apart = true
		}
	})
	return apart
}
