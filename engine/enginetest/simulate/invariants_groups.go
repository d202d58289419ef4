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

// reserved is told of every workload that is put on a node. What an attempt has
// done is written down before the first of its members is told of.
func (s *sim) reserved(e engine.PlacedEvent) {
	s.took = append(s.took, e.Binding)
	s.takesRoom(&e.Binding)
	if s.tooFar[e.Workload.ID] {
		s.reach("workload placed that was too far from others")
		delete(s.tooFar, e.Workload.ID)
	}
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
	if pos.GatingPlugin == queue.ProfileGate {
		s.reach("workload without a profile")
		if row.Profile != goneProfile {
			s.fail("%s is held back although there is a profile %q", id, row.Profile)
		}
		return
	}
	root := ""
	if row.Group != "" {
		root = g.root(row.Workload)
	}
	switch {
	case pos.GatingPlugin == queue.QueuesGate && s.o.Queues && !s.world.reach: // of itself, or by a queue that is not there
	case pos.Place == queue.Incomplete && root != "":
		s.fail("%s waits for its group, which is there up to %s", id, root)
	case pos.Place == queue.Gated && root != "" && s.awaitsDeparture(&pos):
	case pos.Place == queue.Gated && !s.gateHolds(g, root, &row, &pos):
		s.fail("%s is held back by %s: %v, for no reason", id, pos.GatingPlugin, pos.Gate)
	}
}

// awaitsDeparture reports whether a member of a tree of groups waits, after a
// preemption for it, for its victims to leave. With the wake-ups of kube-scheduler
// the gate wakes nobody (isPodSchedulableAfterAssignedPodDeletion, v1.37.1, always
// says Skip): a group that no other plugin rejected waits for the queue's timeout.
func (s *sim) awaitsDeparture(pos *queue.Position) bool {
	if pos.GatingPlugin != plugins.DefaultPreemption || s.handle.Preemption().UnderWay(pos.ID) {
		return false
	}
	if s.result.options.Compat == extpoints.KubeScheduler137 {
		return true
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
	place := s.cur.positions[w.ID].Place
	return w.Phase == model.Pending && place != queue.None && place != queue.OldBinding
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

// heldForRoom reports whether a workload may be held back because room is being
// made for it: some workload is to leave its node and has not left yet. (It may
// have been told to by somebody else before, so the events do not say whether
// it is one of its victims.)
func (s *sim) heldForRoom(pos *queue.Position) bool {
	if pos.GatingPlugin != plugins.DefaultPreemption {
		return false
	}
	asked := slices.ContainsFunc(s.tasks, func(t *simTask) bool { return t.evicts || t.stopped })
	return asked || slices.ContainsFunc(s.cur.ids, func(id string) bool {
		row := s.cur.rows[id]
		return row.Phase == model.Terminating
	})
}

// lacksDeviceClaim reports whether a claim to devices that the workload uses is
// missing, or not to be had.
func (s *sim) lacksDeviceClaim(w *model.WorkloadRecord) bool {
	return slices.ContainsFunc(w.DeviceClaims, func(r model.DeviceClaimRef) bool {
		c := current[*model.DeviceClaim](s.cur.objects, r.ID)
		return c == nil || c.Deleting || r.Generated && (c.Owner != w.ID || c.Namespace != w.Namespace)
	})
}
