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
func (p *InterPodAffinity) weigh(view extpoints.ClusterView, w *extpoints.WorkloadInfo) *scoreState {
	liked, disliked := preferred(w.Affinity), preferred(w.AntiAffinity)
	if len(liked) == 0 && len(disliked) == 0 && (p.ignoreExisting || len(view.Nodes().WithAffinity()) == 0) {
		return nil
	}
	x := &weighing{tally: tally{index: view.Index()}, view: view, namespace: w.Namespace, hard: p.hardWeight}
	x.own(liked, +1)
	x.own(disliked, -1)
	theirs := x.theirs
	for _, x.kind = range preferringKinds {
		if x.kind != extpoints.RequiredAffinityTerm || p.hardWeight > 0 {
			x.index.Terms(x.kind, w.Labels, theirs)
		}
	}
	return x.scoreState()
}

// preferringKinds are the kinds of terms of workloads on nodes that are weighed.
var preferringKinds = [...]extpoints.TermKind{extpoints.RequiredAffinityTerm, extpoints.PreferredAffinityTerm, extpoints.PreferredAntiAffinityTerm}

// weighing adds up the weights of the preferences for a workload of the namespace.
type weighing struct {
	tally
	view      extpoints.ClusterView
	namespace string
	kind      extpoints.TermKind // of the terms that theirs is called with
	hard      int32              // the weight of a required term
}

// own adds the workload's own preferences.
func (x *weighing) own(terms []model.WeightedAffinityTerm, sign int32) {
	for i := range terms {
		t := &terms[i]
		ownTerm{&t.AffinityTerm, x.namespace, x.view}.each(func(c *extpoints.WorkloadClass) {
			x.add(t.TopologyKey, sign*t.Weight, c.Counts)
		})
	}
}

// theirs adds those of workloads on nodes, where they are about the workload.
func (x *weighing) theirs(c *extpoints.TermClass) {
	if !termCovers(c.Term, x.view, x.namespace) {
		return
	}
	weight := c.Weight
	switch x.kind {
	case extpoints.RequiredAffinityTerm:
		weight = x.hard
	case extpoints.PreferredAntiAffinityTerm:
		weight = -weight
	}
	x.add(c.Term.TopologyKey, weight, c.Counts)
}

// scoreState makes the state of what was counted; nil where nothing was counted
// on a node that has the label. Weights that will cancel each other out are not
// nothing.
func (t *tally) scoreState() *scoreState {
	var tables []table
	var weights []int64
	for i := range t.pages {
		if counts, inDomains := t.pages[i].close(); inDomains > 0 {
			tables = append(tables, counts)
			weights = append(weights, int64(t.pages[i].weight))
		}
	}
	if len(tables) == 0 {
		return nil
	}
	return &scoreState{tables, weights}
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
		score += st.weights[i] * int64(t.sums[t.topology.Of[node.Slot]])
	}
	return score, nil
}

// NormalizeScore stretches the scores so that the worst becomes 0 and the best
// full marks; where all are the same they become 0. The order of the floating
// point operations is part of the result.
func (*InterPodAffinity) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	normalize(scores)
	return nil
}

func normalize(scores []int64) {
	lowest, highest := int64(math.MaxInt64), int64(math.MinInt64)
	for _, score := range scores {
		lowest, highest = min(lowest, score), max(highest, score)
	}
	span := float64(highest - lowest)
	last, made := lowest, int64(0) // many nodes have the same
	for i, score := range scores {
		if score != last {
			last, made = score, int64(float64(extpoints.MaxScore)*(float64(score-lowest)/span))
		}
		scores[i] = made
	}
}
