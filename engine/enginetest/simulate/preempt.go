package simulate

import (
	"slices"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/queue"
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
	case s.rank(&leaver) >= by.Priority && s.plans[leaver.ID] != by.ID: // else it was so when it was asked first
		s.fail("%s (%d) is to make room for %s (%d)", leaver.ID, s.rank(&leaver), by.ID, by.Priority)
	case by.Preemption == model.PreemptNever:
		s.fail("%s is to make room for %s, which never displaces others", leaver.ID, by.ID)
	case by.Phase != model.Pending:
		s.fail("%s is to make room for %s, which is %v", leaver.ID, by.ID, by.Phase)
	}
	s.plans[e.Workload.ID] = e.By
	s.leavesAsOne(e.Workload, e.By)
}

// rank is the priority that protects the workload: that of its highest group,
// where it is a member of one.
func (s *sim) rank(w *model.WorkloadRecord) int32 {
	priority := w.Priority
	for at := w.Group; at != ""; {
		g, known := s.raw.View().Group(at)
		if !known {
			break // the highest that is there counts
		}
		priority, at = g.Priority, g.Parent
	}
	return priority
}

// checkBudgets has one of the waiting workloads look for room.
func (s *sim) checkBudgets() {
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
		if !plain(row.Workload) {
			return
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

// protected reports whether some budget speaks of the workload.
func (s *sim) protected(w *model.WorkloadRecord) bool {
	for b := range s.raw.View().Budgets() {
		if protects(b.Budget, w.Workload) {
			return true
		}
	}
	return false
}

func protects(b *model.Budget, w *model.Workload) bool {
	return b.Namespace == w.Namespace && b.Selector != nil && len(b.Selector.Requirements) > 0 &&
		b.Selector.Matches(w.Labels) && !slices.Contains(b.Displaced, w.ID)
}

// exceeded reports whether the victims are more than some budget allows.
func (s *sim) exceeded(victims []extpoints.Eviction) bool {
	for b := range s.raw.View().Budgets() {
		var n int32
		for _, e := range victims {
			if row, ok := s.row(e.ID); ok && protects(b.Budget, row.Workload) {
				n++
			}
		}
		if n > b.Allowed {
			return true
		}
	}
	return false
}

// roomWithoutProtected returns a node on which the workload would fit if all
// workloads of lower priority left it that no budget protects; empty for none.
func (s *sim) roomWithoutProtected(w *model.WorkloadRecord) string {
	g := sightOf(s.raw.View())
	for name := range s.cur.nodes {
		b := s.raw.Branch()
		var changes []engine.Change
		for _, id := range s.rowsWhere(func(o *model.WorkloadRecord) bool {
			return o.Node == name && o.Phase.TakesRoom() && s.rank(o) < w.Priority && !s.protectedWithGroup(g, o)
		}) {
			changes = append(changes, engine.Change{Remove: id})
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
