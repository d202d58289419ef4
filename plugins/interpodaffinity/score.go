package interpodaffinity

import (
	"math"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// weighed holds, from PreScore to Score, who is in which domain.
var weighed = extpoints.NewStateKey[*scoreState](Name + "/score")

// scoreState has a table for each topology key and weight, of which there are
// few. It is never changed.
type scoreState struct {
	tables  []table
	weights []int64 // by table
}

// PreScore adds up the weights of the preferences. It skips workloads that no
// preference is about: neither one of their own that means some workload on a
// node, nor one of such a workload that means them. (A preference only counts
// where the node of that workload has its topology key.)
func (p *InterPodAffinity) PreScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo) *extpoints.Status {
	st := p.weigh(s.View(), w)
	if st == nil {
		return skip
	}
	weighed.Set(s, st)
	return nil
}

// weigh makes the state; nil where all nodes are worth the same because there
// is nothing to weigh.
func (p *InterPodAffinity) weigh(view extpoints.View, w *extpoints.WorkloadInfo) *scoreState {
	liked, disliked := preferred(w.Affinity), preferred(w.AntiAffinity)
	if p.ignoreExisting && len(liked) == 0 && len(disliked) == 0 {
		return nil
	}
	found := tally{index: view.Index()}
	own := func(terms []model.WeightedAffinityTerm, sign int32) {
		for i := range terms {
			t := &terms[i]
			ownTerm{&t.AffinityTerm, w.Namespace, view}.each(func(c *extpoints.WorkloadClass) {
				found.add(t.TopologyKey, sign*t.Weight, c.Counts)
			})
		}
	}
	theirs := func(kind extpoints.TermKind, weight func(*extpoints.TermClass) int32) {
		found.index.Terms(kind, w.Labels, func(c *extpoints.TermClass) {
			if c.Covers(view, w.Namespace) {
				found.add(c.Term.TopologyKey, weight(c), c.Counts)
			}
		})
	}
	own(liked, +1)
	own(disliked, -1)
	if p.hardWeight > 0 {
		theirs(extpoints.RequiredAffinityTerm, func(*extpoints.TermClass) int32 { return p.hardWeight })
	}
	theirs(extpoints.PreferredAffinityTerm, func(c *extpoints.TermClass) int32 { return c.Weight })
	theirs(extpoints.PreferredAntiAffinityTerm, func(c *extpoints.TermClass) int32 { return -c.Weight })
	return found.scoreState()
}

// scoreState makes the state of what was counted; nil where nothing was counted
// on a node that has the label. Weights that will cancel each other out are not
// nothing.
func (t *tally) scoreState() *scoreState {
	var st scoreState
	for i := range t.pages {
		if counts, inDomains := t.pages[i].close(); inDomains > 0 {
			st.tables = append(st.tables, counts)
			st.weights = append(st.weights, int64(t.pages[i].weight))
		}
	}
	if len(st.tables) == 0 {
		return nil
	}
	return &st
}

// Score is the sum of the weights over the workloads in the node's domains. It
// may be negative.
func (p *InterPodAffinity) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	st, ok := weighed.Get(s)
	if !ok {
		// The profile has disabled PreScore (the reference fails the cycle
		// then), or it said Skip.
		if st = p.weigh(s.View(), w); st == nil {
			return 0, nil
		}
	}
	var score int64
	for i := range st.tables {
		t := &st.tables[i]
		score += st.weights[i] * int64(t.sums[t.topology.Domain(node)])
	}
	return score, nil
}

// NormalizeScore stretches the scores so that the worst becomes 0 and the best
// full marks; where all are the same they become 0. The order of the floating
// point operations is part of the result.
func (*InterPodAffinity) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	lowest, highest := int64(math.MaxInt64), int64(math.MinInt64)
	for _, score := range scores {
		lowest, highest = min(lowest, score), max(highest, score)
	}
	span := float64(highest - lowest)
	for i := range scores {
		stretched := 0.0
		if highest > lowest {
			stretched = float64(extpoints.MaxScore) * (float64(scores[i]-lowest) / span)
		}
		scores[i] = int64(stretched)
	}
	return nil
}
