package simulate

import (
	"slices"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// displacedByGroup checks an eviction that makes room for a tree of groups.
func (s *sim) displacedByGroup(e engine.EvictingEvent) {
	by, known := s.raw.View().Group(e.ByGroup)
	leaver, there := s.row(e.Workload.ID)
	switch {
	case s.plugins.faulty():
		return
	case !known:
		s.fail("%s is to make room for group %s, which is not there", e.Workload.ID, e.ByGroup)
		return
	case !there || leaver.Node != e.Node:
		s.fail("%s is to leave %s, and is on %q", e.Workload.ID, e.Node, leaver.Node)
	case s.plans[leaver.ID] == by.ID, s.o.Queues: // it was so when it was asked first
	case s.rank(&leaver) >= by.Priority:
		s.fail("%s (%d) is to make room for group %s (%d)", leaver.ID, s.rank(&leaver), by.ID, by.Priority)
	case s.neverPreempts(&by):
		s.fail("%s is to make room for group %s, which never displaces others", leaver.ID, by.ID)
	}
	s.notInVain(s.waitingBelow(by.ID)...)
	s.reach("room made for a group")
	s.plans[e.Workload.ID] = e.ByGroup
	s.leavesAsOne(e.Workload, "group "+e.ByGroup)
}

// neverPreempts: the group's policy is Never, or it has none and a member's is.
func (s *sim) neverPreempts(g *model.GroupRecord) bool {
	if g.Preemption != "" {
		return g.Preemption == model.PreemptNever
	}
	sight := sightOf(s.raw.View())
	for _, row := range sight.rows {
		if row.Phase == model.Pending && row.Preemption == model.PreemptNever && sight.below(row.Workload, g.ID) {
			return true
		}
	}
	return false
}

// plannedForGroup checks what the tree of groups would displace now.
func (s *sim) plannedForGroup(group string) {
	s.quietly(func() {
		d, err := s.raw.Branch().ScheduleGroup(s.now, group)
		if err != nil {
			return // a group is not there, or its members do not agree
		}
		root, _ := s.raw.View().Group(d.Root)
		s.checkReclaim(s.waitingBelow(root.ID), root.Priority, d.Evictions)
		for _, e := range d.Evictions {
			if victim, _ := s.row(e.ID); !s.o.Queues && s.rank(&victim) >= root.Priority {
				s.fail("group %s (%d) would displace %s (%d)", d.Root, root.Priority, e.ID, s.rank(&victim))
			}
		}
		s.checkPlan("group "+d.Root, d.Evictions)
		s.checkGroupBudgets(&root, d.Evictions)
	})
}

// checkGroupBudgets: a group that displaces others exceeds budgets only where it would not fit with all gone whom they do
// not protect. Where budgets allow some to go besides, the members of a group that has several may be placed
// otherwise, and then not all.
func (s *sim) checkGroupBudgets(root *model.GroupRecord, victims []extpoints.Eviction) {
	waiting := s.waitingBelow(root.ID)
	others := func(w *model.Workload) bool { return !plain(w) }
	if s.o.Compat != extpoints.Improved || s.o.Queues || s.extended || slices.ContainsFunc(waiting, others) || !s.exceeded(victims) {
		return
	}
	if len(waiting) > 1 && s.budgetsAllow() {
		return
	}
	b := s.raw.Branch()
	if err := b.Apply(s.now, s.unprotectedBelow(root.Priority)...); err != nil {
		s.fail("removing victims on a branch: %v", err)
		return
	}
	if d, err := b.ScheduleGroup(s.now, root.ID); err == nil && d.Placed {
		s.fail("group %s displaces more than budgets allow, and could have room without that", root.ID)
	}
}

// unprotectedBelow are the removals of all workloads of lower priority that a group may displace and no budget protects.
func (s *sim) unprotectedBelow(priority int32) (changes []engine.Change) {
	g := sightOf(s.raw.View())
	for _, id := range s.rowsWhere(func(o *model.WorkloadRecord) bool {
		return o.Phase.TakesRoom() && s.cur.nodes[o.Node] != nil && s.rank(o) < priority && !s.protectedWithGroup(g, o) && !s.leftBehind(g, o)
	}) {
		changes = append(changes, engine.Remove(id))
	}
	return changes
}

// leftBehind reports whether a workload leaves with others of which one is on a node that is not there: then
// nobody is displaced.
func (s *sim) leftBehind(g *sight, w *model.WorkloadRecord) bool {
	whole := g.wholeOf(w.Workload)
	for _, o := range g.rows {
		if whole != "" && isPlaced(&o) && s.cur.nodes[o.Node] == nil && g.below(o.Workload, whole) {
			return true
		}
	}
	return false
}

// waitingBelow lists the members of the tree that wait for a node.
func (s *sim) waitingBelow(group string) (list []*model.Workload) {
	g := sightOf(s.raw.View())
	for _, id := range sortedKeys(g.rows) {
		if row := g.rows[id]; row.Phase == model.Pending && row.Group != "" && g.below(row.Workload, group) {
			list = append(list, row.Workload)
		}
	}
	return list
}

// checkPlan is checkWhole on the present state.
func (s *sim) checkPlan(by string, victims []extpoints.Eviction) {
	if len(victims) == 0 {
		return
	}
	for _, p := range sightOf(s.raw.View()).checkWhole(by, victims) {
		s.fail("%s", p)
	}
}

// leavesAsOne notes that a workload was displaced in an attempt that belongs to a
// group that leaves as one.
func (s *sim) leavesAsOne(w *model.Workload, by string) {
	if s.attempting && w.Group != "" {
		if whole := sightOf(s.raw.View()).wholeOf(w); whole != "" {
			s.asOne[whole] = by
			s.reach("group displaced as one")
		}
	}
}

// checkWholes: where a group that leaves as one was displaced, all its members are
// asked to go at the same moment. One of them may be the last that is to make room,
// who is asked when the others are on their way.
func (s *sim) checkWholes() {
	for whole, by := range s.asOne {
		g := sightOf(s.raw.View())
		var stay []string
		for _, id := range sortedKeys(g.rows) {
			row := g.rows[id]
			asked := slices.ContainsFunc(s.tasks, func(t *simTask) bool { return t.id == id && (t.evicts || t.stopped) })
			if isPlaced(&row) && row.Phase != model.Terminating && g.below(row.Workload, whole) && !asked {
				stay = append(stay, id)
			}
		}
		if len(stay) > 1 {
			s.fail("group %s leaves as one for %s, and %v were not asked to", whole, by, stay)
		}
	}
	clear(s.asOne)
}

// checkWhole: of a group that leaves as one all members on nodes are displaced,
// or none.
func (g *sight) checkWhole(by string, victims []extpoints.Eviction) (p problems) {
	leaves := func(id string) bool {
		return slices.ContainsFunc(victims, func(e extpoints.Eviction) bool { return e.ID == id })
	}
	for _, e := range victims {
		row := g.rows[e.ID]
		if row.Workload == nil {
			continue
		}
		whole := g.wholeOf(row.Workload)
		for _, id := range sortedKeys(g.rows) {
			if o := g.rows[id]; whole != "" && isPlaced(&o) && o.Phase != model.Terminating && g.below(o.Workload, whole) && !leaves(id) {
				p.add("%s displaces %s of group %s, and not %s of it", by, e.ID, whole, id)
			}
		}
	}
	return p
}

// protectedWithGroup reports whether some budget speaks of the workload, or of one
// that would have to leave with it.
func (s *sim) protectedWithGroup(g *sight, w *model.WorkloadRecord) bool {
	if s.protected(w) {
		return true
	}
	whole := g.wholeOf(w.Workload)
	for _, o := range g.rows {
		if whole != "" && isPlaced(&o) && g.below(o.Workload, whole) && s.protected(&o) {
			return true
		}
	}
	return false
}
