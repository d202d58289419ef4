package simulate

import (
	"slices"

	"github.com/berth-project/berth/engine"
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

// checkRoomLost: who is nominated to a node that has gone, or has changed in what matters to scheduling, and whose
// nomination has ended otherwise than by an attempt of its own, waits for no event any more: it may be that nobody
// leaves whose room it could have.
func checkRoomLost(before, after *observed) (p problems) {
	for _, id := range after.ids {
		row, old := after.rows[id], before.rows[id]
		pos, was := after.positions[id], before.positions[id]
		asleep := row.Phase == model.Pending && pos.Place == queue.Unschedulable && pos.Behind == ""
		if !asleep || old.Nominated == "" || old.CreateIndex != row.CreateIndex || pos.Attempts != was.Attempts {
			continue
		}
		if row.Nominated != old.Nominated || !servesAsBefore(before.nodes[old.Nominated], after.nodes[old.Nominated]) {
			p.add("%s waits for an event, because of %v, and has lost the room on %s", id, pos.UnschedulablePlugins, old.Nominated)
		}
	}
	return p
}

// servesAsBefore reports whether nothing that matters to scheduling has changed of a node, if it was there; nil: it
// is not. (A faulty plugin may nominate to one that is yet to come.)
func servesAsBefore(before, after *model.Node) bool {
	if before == nil || after == nil {
		return before == nil
	}
	return before.Unschedulable == after.Unschedulable && len(extpoints.EventsForNodeUpdate(before, after)) == 0
}

// checkRoomKept: room is kept on a node for nobody who was tried and waits for an event, unless
// somebody is to leave so that there is room, or a plugin keeps it that needs no reason. Others
// would be thought to fit nowhere for the sake of that room. And nobody waits so for a node that is not there, unless
// evictions for it are under way, or where it would not fit when all have left who are leaving: they do so in vain.
func (s *sim) checkRoomKept() {
	for _, id := range s.cur.ids {
		row, pos := s.cur.rows[id], s.cur.positions[id]
		since, outside := s.nominated[id]
		switch {
		case row.Nominated == "" || row.Phase != model.Pending || row.Labels["nominate"] != "":
		case pos.Place != queue.Unschedulable || outside && pos.Attempts <= since:
		case s.cur.nodes[row.Nominated] == nil && !s.handle.Preemption().UnderWay(id):
			s.fail("room is kept for %s on %s, which is not there: it waits because of %v", id, row.Nominated, pos.UnschedulablePlugins)
		case !s.someoneLeaves(row.Nominated, id):
			s.fail("room is kept for %s on %s, and nobody is leaving: it waits because of %v", id, row.Nominated, pos.UnschedulablePlugins)
		case !s.wouldFit(&row):
			s.fail("room is kept for %s on %s, where it will not fit: it waits because of %v", id, row.Nominated, pos.UnschedulablePlugins)
		}
	}
}

// wouldFit reports whether a workload that is nominated to a node would fit somewhere if all had gone who are leaving
// theirs, as far as others on the nodes are concerned. It does too while evictions are under way, and where it is not looked at.
func (s *sim) wouldFit(w *model.WorkloadRecord) (fits bool) {
	if !s.o.Crowded || s.o.Queues || s.extended || w.Group != "" || len(s.cur.holds) > 0 || s.handle.Preemption().UnderWay(w.ID) {
		return true
	}
	var changes []engine.Change
	for _, id := range s.cur.ids {
		switch row := s.cur.rows[id]; {
		case row.Phase == model.Terminating:
			changes = append(changes, engine.Remove(id))
		case row.Nominated != "" && id != w.ID:
			changes = append(changes, engine.Nominate(id, ""))
		}
	}
	s.quietly(func() {
		b := s.raw.Branch()
		if err := b.Apply(s.now, changes...); err != nil {
			s.fail("removing those who leave on a branch: %v", err)
		}
		d, err := b.Schedule(s.now, w.ID)
		fits = err != nil || d.Placed()
	})
	return fits
}

// someoneLeaves reports whether a workload is on its way off the node, or off another for the
// sake of the one that waits (the last victim is asked when the others have accepted, and of a
// group that is displaced as one it may be the only one on the node), or a binding that was
// called off has not ended. Who needs the room is not told of a victim that was asked for another reason
// before: then an eviction must be under way, and the engine must say that the workload waits for evictions.
func (s *sim) someoneLeaves(node, waits string) bool {
	ends := func(t *simTask) bool {
		here := t.node == node && (t.evicts || t.stopped || t.abandoned)
		return here || t.evicts && (s.roomFor[t.id] == waits || s.handle.Preemption().UnderWay(waits))
	}
	return slices.ContainsFunc(s.tasks, ends) || slices.ContainsFunc(s.cur.ids, func(id string) bool {
		row := s.cur.rows[id]
		asked := row.Node != "" && s.evictions[id] == row.Node
		return row.Node == node && (asked || row.Phase == model.Terminating) || asked && s.roomFor[id] == waits
	})
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
