package simulate

import (
	"fmt"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// inputGroup makes, changes or removes a group.
func inputGroup(s *sim) string {
	if !s.groups {
		return ""
	}
	first := &simGroups[2+s.rng.IntN(len(simGroups)-2)]
	g := *first
	switch now := s.world.groups[first.ID]; {
	case now == nil:
		if g.Policy == model.Gang {
			g.MinCount = 1 + s.rng.Int32N(3)
		}
	case s.chance(20):
		delete(s.world.groups, g.ID)
		s.apply(engine.RemoveGroup(g.ID))
		return "no group " + g.ID
	default:
		g = *now
		s.changeGroup(&g)
	}
	s.world.groups[g.ID] = &g
	changes := []engine.Change{engine.PutGroup(&g)}
	if s.chance(60) {
		changes = append(changes, s.followers(g.ID)...)
	}
	s.apply(changes...)
	return fmt.Sprintf("group %s: %d of %s, priority %d %s, %s, by %q", g.ID, g.MinCount, g.Policy, g.Priority, g.Preemption, g.Disruption, g.TopologyKey)
}

// inputMembers submits several members of a group, together or one by one, with
// small demands so that they have a chance. Sometimes one of them is somewhere
// already.
func inputMembers(s *sim) string {
	if !s.groups {
		return ""
	}
	group := pickOf(s, simLeaves)
	what := "members of " + group + ":"
	var changes []engine.Change
	for range 1 + s.rng.IntN(4) {
		w := &model.Workload{
			ID: s.nextWorkload(), Group: group, Namespace: pickOf(s, simNamespaces), Labels: map[string]string{"app": pickOf(s, simApps)},
			Requests: model.Resources{CPU: pickOf(s, simAmounts[:6]), Memory: pickOf(s, simAmounts[:6])},
		}
		s.agree(w)
		s.claim(w)
		s.talk(w)
		if s.chance(8) {
			w.Gates = []string{"quota"}
		}
		what += " " + w.ID
		if s.chance(6) {
			node := s.anyNode()
			s.forced[node] = true
			s.world.book[w.ID] = &booked{spec: w, node: node, known: true}
			changes = append(changes, engine.Adopt(w, model.Binding{Node: node}))
			what += " (on " + node + ")"
			continue
		}
		s.world.book[w.ID] = &booked{spec: w}
		changes = append(changes, engine.Submit(w))
	}
	if s.chance(50) {
		s.apply(changes...)
		return what + ", together"
	}
	for _, ch := range changes {
		s.apply(ch)
	}
	return what
}

// followers are updates of the members of a group, and of those below it, that no
// longer agree with it.
func (s *sim) followers(group string) (changes []engine.Change) {
	for _, w := range s.sortedBook() {
		if w.Group == "" || s.rootOf(w.Group).ID != group || s.world.book[w.ID].ended {
			continue
		}
		next := w.Clone()
		if s.agree(next); next.Priority != w.Priority || next.Preemption != w.Preemption || next.Profile != w.Profile {
			s.world.book[w.ID].spec = next
			changes = append(changes, engine.Update(next))
		}
	}
	return changes
}

func (s *sim) changeGroup(g *model.Group) {
	switch n := s.rng.IntN(10); {
	case n < 6 && g.Policy == model.Gang:
		g.MinCount = 1 + s.rng.Int32N(3)
	case n < 7:
		g.Priority = s.rng.Int32N(4)
	case n < 8:
		g.Disruption = pickOf(s, []model.DisruptionMode{"", model.DisruptAll})
	case n < 9:
		g.TopologyKey = pickOf(s, []string{"", "zone"})
	default:
		g.Preemption = pickOf(s, []model.PreemptionPolicy{"", model.PreemptNever})
	}
}
