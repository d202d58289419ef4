package extpointstest

import (
	"maps"
	"slices"

	"github.com/berth-project/berth/extpoints"
)

func tryPlacementGenerate(tr *trial) {
	generator, ok := tr.plugin.(extpoints.PlacementGeneratePlugin)
	if !ok {
		return
	}
	made := 0
	tr.eachGroup(func(s *GroupSituation) {
		parent := s.All()
		before := fingerprint(parent)
		placements, status := generator.GeneratePlacements(s.State(), s.Group, parent)
		again, statusAgain := generator.GeneratePlacements(s.State(), s.Group, parent)
		if fingerprint(parent) != before {
			tr.failf(s, "GeneratePlacements changes the parent's placement")
		}
		tr.allowed(s, "GeneratePlacements", status, orRejected(extpoints.Success, extpoints.Error)...)
		if !sameStatus(status, statusAgain) || !slices.EqualFunc(placements, again, samePlacement) {
			tr.failf(s, "asked again GeneratePlacements says %v %v and not %v %v", statusAgain, namesOf(again), status, namesOf(placements))
		}
		names := map[string]bool{}
		for i := range placements {
			p := &placements[i]
			if names[p.Name] {
				tr.failf(s, "there are two placements %q", p.Name)
			}
			names[p.Name] = true
			if !inOrder(p.Nodes, parent.Nodes) {
				tr.failf(s, "the nodes of placement %q are not among the parent's in its order", p.Name)
			}
		}
		made += len(placements)
	})
	tr.notef("GeneratePlacements made %d placements", made)
}

func samePlacement(a, b extpoints.Placement) bool {
	return a.Name == b.Name && slices.Equal(a.Nodes, b.Nodes)
}

func namesOf(placements []extpoints.Placement) []string {
	var names []string
	for _, p := range placements {
		names = append(names, p.Name)
	}
	return names
}

// inOrder reports whether the nodes are among all, in the same order and none
// twice.
func inOrder(nodes, all []*extpoints.NodeInfo) bool {
	for _, n := range nodes {
		i := slices.Index(all, n)
		if i < 0 {
			return false
		}
		all = all[i+1:]
	}
	return true
}

func tryPlacementFeasible(tr *trial) {
	feasible, ok := tr.plugin.(extpoints.PlacementFeasiblePlugin)
	if !ok {
		return
	}
	tr.eachGroup(func(s *GroupSituation) {
		for range 4 {
			progress := extpoints.PlacementProgress{Scheduled: tr.random.IntN(4), Remaining: tr.random.IntN(4)}
			status := feasible.PlacementFeasible(s.State(), s.Group, progress)
			tr.allowed(s, "PlacementFeasible", status, orRejected(extpoints.Success, extpoints.Wait)...)
			if again := feasible.PlacementFeasible(s.State(), s.Group, progress); !sameStatus(status, again) {
				tr.failf(s, "asked again about %+v PlacementFeasible says %v and not %v", progress, again, status)
			}
		}
	})
}

func tryPlacementScore(tr *trial) {
	scorer, ok := tr.plugin.(extpoints.PlacementScorePlugin)
	if !ok {
		return
	}
	scored := 0
	tr.eachGroup(func(s *GroupSituation) {
		// Each node, and all of them: placements of one group, as it were.
		placements := []*extpoints.Placement{s.All()}
		for i := range s.View.NodeInfos {
			placements = append(placements, &extpoints.Placement{Name: s.View.NodeInfos[i].Node.Name, Nodes: s.View.NodeInfos[i : i+1]})
		}
		state := s.State()
		scores := make([]int64, len(placements))
		for i, p := range placements {
			a := RandomAssignments(tr.random, s, p)
			before := fingerprint(a)
			score, status := scorer.ScorePlacement(state, s.Group, a)
			if !tr.allowed(s, "ScorePlacement", status, extpoints.Success) {
				return
			}
			if again, _ := scorer.ScorePlacement(s.State(), s.Group, a); again != score {
				tr.failf(s, "asked again ScorePlacement says %d and not %d", again, score)
			}
			if fingerprint(a) != before {
				tr.failf(s, "ScorePlacement changes what is proposed")
			}
			scores[i] = score
		}
		tr.tryNormalizePlacements(s, state, scores)
		scored += len(scores)
	})
	tr.notef("ScorePlacement scored %d placements", scored)
}

func (tr *trial) tryNormalizePlacements(s *GroupSituation, state *extpoints.CycleState, raw []int64) {
	scores := slices.Clone(raw)
	if n, ok := tr.plugin.(extpoints.PlacementScoreNormalizer); ok {
		again := slices.Clone(raw)
		if !tr.allowed(s, "NormalizePlacementScore", n.NormalizePlacementScore(state, s.Group, scores), extpoints.Success) {
			return
		}
		n.NormalizePlacementScore(s.State(), s.Group, again)
		if !slices.Equal(scores, again) {
			tr.failf(s, "NormalizePlacementScore makes %v and then %v of %v", scores, again, raw)
		}
	}
	for i, score := range scores {
		if score < extpoints.MinScore || score > extpoints.MaxScore {
			tr.failf(s, "the score of a placement is %d (raw %d), out of range", score, raw[i])
		}
	}
}

func tryGroupPostFilter(tr *trial) {
	post, ok := tr.plugin.(extpoints.GroupPostFilterPlugin)
	if !ok {
		return
	}
	tr.eachGroup(func(s *GroupSituation) {
		cycle, cycleAgain := s.Cycle(), s.Cycle()
		result, status := post.GroupPostFilter(cycle.State(), s.Group, NewGroupTrial(s.View, s.Group, &Preemption{}))
		again, statusAgain := post.GroupPostFilter(cycleAgain.State(), s.Group, NewGroupTrial(s.View, s.Group, &Preemption{}))
		tr.allowed(s, "GroupPostFilter", status, extpoints.Success, extpoints.Unschedulable, extpoints.UnschedulableAndUnresolvable)
		first, second := nominations(result), nominations(again)
		evicts, evictsAgain := cycle.Requests().Evictions, cycleAgain.Requests().Evictions
		if !sameStatus(status, statusAgain) || !maps.Equal(first, second) || !slices.Equal(evicts, evictsAgain) {
			tr.failf(s, "asked again GroupPostFilter says %v %v, evicting %v, and not %v %v, evicting %v",
				statusAgain, second, evictsAgain, status, first, evicts)
		}
		members := s.members()
		for id, n := range first {
			if !slices.ContainsFunc(members, func(w *extpoints.WorkloadInfo) bool { return w.ID == id }) {
				tr.failf(s, "GroupPostFilter nominates a node for %q, which is no member to be placed", id)
			}
			if n.Nominate != "" && s.View.Nodes().Get(n.Nominate) == nil {
				tr.failf(s, "GroupPostFilter nominates node %q, which is not there", n.Nominate)
			}
		}
	})
}

func nominations(r *extpoints.GroupPostFilterResult) map[string]extpoints.PostFilterResult {
	if r == nil {
		return nil
	}
	return r.Nominations
}
