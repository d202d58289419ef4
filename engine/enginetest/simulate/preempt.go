package simulate

import (
	"slices"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// displaced checks an eviction that makes room for another workload, at the
// moment at which it is asked for: the victim is of lower priority and is there,
// and if a budget protects it there was no room to be made elsewhere at the cost
// of unprotected workloads alone.
func (s *sim) displaced(e engine.EvictingEvent) {
	if e.ByGroup != "" {
		s.displacedByGroup(e)
		return
	}
	by, known := s.row(e.By)
	leaver, there := s.row(e.Workload.ID)
	switch {
	case e.By == "" || s.plugins.faulty(): // a faulty plugin displaces whom it likes
		return
	case !known:
		s.fail("%s is to make room for %s, which is not there", e.Workload.ID, e.By)
	case !there || leaver.Node != e.Node:
		s.fail("%s is to leave %s, and is on %q", e.Workload.ID, e.Node, leaver.Node)
	case s.acrossQueues(by.Workload, leaver.Workload):
		s.reach("workload displaced for another queue")
	case s.rank(&leaver) >= by.Priority && s.plans[leaver.ID] != by.ID: // else it was so when it was asked first
		s.fail("%s (%d) is to make room for %s (%d)", leaver.ID, s.rank(&leaver), by.ID, by.Priority)
	case by.Preemption == model.PreemptNever:
		s.fail("%s is to make room for %s, which never displaces others", leaver.ID, by.ID)
	case by.Phase != model.Pending:
		s.fail("%s is to make room for %s, which is %v", leaver.ID, by.ID, by.Phase)
	}
	s.plans[e.Workload.ID] = e.By
	if known {
		s.notInVain(by.Workload)
	}
	s.leavesAsOne(e.Workload, e.By)
}

// notInVain: nobody is displaced for workloads that were rejected in the room that was made
// for them before, not for an hour. It notes that room is made for them now.
func (s *sim) notInVain(members ...*model.Workload) {
	for _, w := range members {
		if made := s.turns[w.ID]; made != nil && made.of == w && s.now.Before(made.until) && s.o.Compat == extpoints.Improved && !s.plugins.faulty() {
			s.fail("room is made again for %s, which was rejected there", w.ID)
		}
	}
	for _, w := range members {
		if made := s.turns[w.ID]; made == nil || made.of != w {
			s.turns[w.ID] = &turn{of: w}
		}
	}
}

// checkBudgets has one of the waiting workloads look for room, and each group where room is all that counts.
func (s *sim) checkBudgets() {
	if s.o.Crowded {
		for _, group := range sortedKeys(s.world.groups) {
			s.plannedForGroup(group)
		}
	}
	if id := pickOf(s, s.rowsWhere(func(w *model.WorkloadRecord) bool { return w.Phase == model.Pending })); id != "" {
		s.planned(id)
	}
}

// planned checks what the workload would displace now: budgets are exceeded only
// where there is no way around it. (That is what can be seen of the order of the
// criteria from outside: fewest violations come first.)
func (s *sim) planned(id string) {
	row, ok := s.row(id)
	if !ok {
		return
	}
	if row.Group != "" {
		s.plannedForGroup(row.Group)
	}
	s.quietly(func() {
		b := s.raw.Branch()
		d, err := b.Schedule(s.now, id)
		if err != nil || d.Placed() {
			return
		}
		s.checkPlan(id, d.Evictions)
		s.checkReclaim([]*model.Workload{row.Workload}, row.Priority, d.Evictions)
		s.checkReturn(id, d.Nominated, d.Evictions)
		if !plain(row.Workload) || row.Group != "" || s.extended {
			return // a group wants room for all, and extenders may drop the node where no budget is in the way
		}
		if slices.ContainsFunc(d.Evictions, func(e extpoints.Eviction) bool {
			victim, _ := s.row(e.ID)
			return s.acrossQueues(row.Workload, victim.Workload)
		}) {
			return // on another node it may not be fair
		}
		for _, e := range d.Evictions {
			victim, _ := s.row(e.ID)
			if !s.protected(&victim) || !s.exceeded(d.Evictions) {
				continue
			}
			if node := s.roomWithoutProtected(&row); node != "" {
				s.fail("%s displaces %s, which a budget protects, and could have room on %s", id, e.ID, node)
			}
		}
	})
}

// plain reports whether what the workload needs of a node can only get easier
// when others leave, and preemption knows that it can.
func plain(w *model.Workload) bool {
	return w.Affinity == nil && len(w.Spread) == 0 && len(w.VolumeClaims) == 0 && len(w.DeviceClaims) == 0 && w.Requests.Get(cardResource) == 0
}

// roomWithoutProtected returns a node on which the workload would fit if all
// workloads of lower priority left it that no budget protects; empty for none.
func (s *sim) roomWithoutProtected(w *model.WorkloadRecord) string {
	g := sightOf(s.raw.View())
	for name := range s.cur.nodes {
		b := s.raw.Branch()
		var changes []engine.Change
		for _, id := range s.rowsWhere(func(o *model.WorkloadRecord) bool {
			return o.Node == name && o.Phase.TakesRoom() && s.rank(o) < w.Priority && !s.protectedWithGroup(g, o) && !s.acrossQueues(w.Workload, o.Workload)
		}) {
			changes = append(changes, engine.Remove(id))
		}
		if err := b.Apply(s.now, changes...); err != nil {
			s.fail("removing victims on a branch: %v", err)
			return ""
		}
		if d, err := b.Schedule(s.now, w.ID); err == nil && d.Binding.Node == name {
			return name
		}
	}
	return ""
}
