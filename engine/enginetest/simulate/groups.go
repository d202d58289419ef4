package simulate

import (
	"slices"

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

// rootOf is the highest group above the one with the ID as it is, or is meant to
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
	if s.o.Queues {
		w.Queue, w.Principal = simQueues[0], ""
	}
}

// claim lets some workloads use volumes and devices.
func (s *sim) claim(w *model.Workload) {
	volumes, devices := s.volumes && s.chance(s.ifScarce(45, 25)), s.devices && s.chance(s.ifScarce(60, 30))
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
