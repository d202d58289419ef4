package simulate

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// simGroups are the groups of a history, as they are at first: two that only
// belong together, gangs, and a tree of three levels.
var simGroups = []model.Group{
	{ID: "g0", Priority: 0},
	{ID: "g1", Priority: 1},
	{ID: "g2", Priority: 1, Policy: model.Gang, MinCount: 2, DeviceClaims: []model.DeviceClaimRef{{Name: "group", ID: groupClaim, OfGroup: true}}},
	{ID: "g3", Priority: 2, Policy: model.Gang, MinCount: 2, TopologyKey: "zone"},
	{ID: "g4", Priority: 0, Policy: model.Gang, MinCount: 2, Disruption: model.DisruptAll},
	{ID: "top", Priority: 2, Composite: true, Policy: model.Gang, MinCount: 1},
	{ID: "mid", Priority: 2, Composite: true, Policy: model.Gang, MinCount: 2, Parent: "top"},
	{ID: "g5", Priority: 2, Policy: model.Gang, MinCount: 2, Parent: "mid"},
	{ID: "g6", Priority: 2, Policy: model.Gang, MinCount: 1, Parent: "mid"},
	{ID: "g7", Priority: 2, Parent: "top", TopologyKey: "zone"},
}

// simLeaves are those that have workloads as members, oftener the interesting
// ones.
var simLeaves = []string{"g0", "g1", "g2", "g2", "g3", "g3", "g4", "g4", "g5", "g5", "g6", "g7"}

// newGroups makes the groups that there are at the beginning: most of them.
func (s *sim) newGroups() {
	for i := range simGroups {
		if g := simGroups[i]; i < 2 || s.chance(85) {
			s.world.groups[g.ID] = &g
		}
	}
}

// profileOf is the profile that all members of a tree of groups have.
func profileOf(group string) string {
	switch group {
	case "g1", "g4":
		return batchProfile
	}
	return simProfile
}

// rootOf is the highest group above the one of the ID as it is, or is meant to
// be.
func (s *sim) rootOf(id string) *model.Group {
	for {
		g := s.world.groups[id]
		if g == nil {
			i := slices.IndexFunc(simGroups, func(g model.Group) bool { return g.ID == id })
			g = &simGroups[i]
		}
		if g.Parent == "" {
			return g
		}
		id = g.Parent
	}
}

// join makes the workload a member of a group.
func (s *sim) join(w *model.Workload) {
	w.Group = pickOf(s, simLeaves)
	if !s.groups {
		w.Group = simGroups[s.rng.IntN(2)].ID
	}
	s.agree(w)
}

// agree gives a member what all members of its tree must have alike.
func (s *sim) agree(w *model.Workload) {
	root := s.rootOf(w.Group)
	w.Priority, w.Preemption, w.Profile = root.Priority, root.Preemption, profileOf(w.Group)
	if root.Preemption == "" && root.Priority == 1 { // the members decide
		w.Preemption = model.PreemptNever
	}
}

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
		s.apply(engine.Change{RemoveGroup: g.ID})
		return "no group " + g.ID
	default:
		g = *now
		s.changeGroup(&g)
	}
	s.world.groups[g.ID] = &g
	changes := []engine.Change{{PutGroup: &g}}
	if s.chance(60) {
		changes = append(changes, s.followers(g.ID)...)
	}
	s.apply(changes...)
	return fmt.Sprintf("group %s: %d of %s, priority %d %s, %s, by %q", g.ID, g.MinCount, g.Policy, g.Priority, g.Preemption, g.Disruption, g.TopologyKey)
}

// followers are updates of the members of a group, and of those below it, that no
// longer agree with it.
func (s *sim) followers(group string) (changes []engine.Change) {
	for _, w := range s.sortedBook() {
		nowhere := w.NodeName != "" && s.world.nodes[w.NodeName] == nil
		if w.Group == "" || s.rootOf(w.Group).ID != group || s.world.book[w.ID].ended || nowhere {
			continue
		}
		next := w.Clone()
		if s.agree(next); next.Priority != w.Priority || next.Preemption != w.Preemption || next.Profile != w.Profile {
			s.world.book[w.ID].spec = next
			changes = append(changes, engine.Change{Update: next})
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

// inputMembers hands in several members of a group, together or one by one, with
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
		if s.chance(8) {
			w.Gates = []string{"quota"}
		}
		what += " " + w.ID
		if s.chance(6) {
			node := s.anyNode()
			s.forced[node] = true
			s.world.book[w.ID] = &booked{spec: w, node: node, known: true}
			changes = append(changes, engine.Change{Adopt: &engine.Placement{Workload: w, Node: node}})
			what += " (on " + node + ")"
			continue
		}
		s.world.book[w.ID] = &booked{spec: w}
		changes = append(changes, engine.Change{Submit: w})
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

// claim lets some workloads use volumes and devices.
func (s *sim) claim(w *model.Workload) {
	volumes, devices := s.volumes && s.chance(25), s.devices && s.chance(30)
	if volumes {
		s.claimVolumes(w)
	}
	if devices {
		s.claimDevices(w)
	}
	if (volumes || devices) && s.chance(60) { // it is to be about these
		w.Requests.CPU, w.Requests.Memory = min(w.Requests.CPU, 100), min(w.Requests.Memory, 100)
	}
}

// regroup lets a waiting workload join or leave a group, and a member follow a
// group that has changed.
func (s *sim) regroup(w *model.Workload, placed bool) bool {
	switch {
	case w.Group != "" && s.chance(40):
		s.agree(w)
		return true
	case s.groups && !placed && s.chance(6) && len(w.DeviceClaims) == 0:
		if w.Group == "" {
			s.join(w)
		} else {
			w.Group = ""
		}
		return true
	}
	return false
}
