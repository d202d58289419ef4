package podtopologyspread

import (
	"errors"
	"math"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// preferences holds, from PreScore to NormalizeScore, what scores are made of.
var preferences = extpoints.NewStateKey[*preference](Name + "/preferred")

var errNoPreScore = errors.New("there are preferred spread constraints, but PreScore did not prepare for them")

// preference is what the scores of one cycle are made of.
type preference struct {
	terms []term // by constraint
	// allKeys: nodes that lack a key are given no score, and there are some.
	allKeys bool
}

// term is what one preferred constraint adds to the score of a node: weight for
// each workload that is counted, plus slack, for a node that has the key.
type term struct {
	of      []int32 // each node's domain, by slot
	perNode bool    // each node is a domain of its own
	counts  []int32 // by domain, or with perNode by slot
	// weight makes up for there being less in each domain the more domains
	// there are.
	weight float64
	// slack waters the differences between counts down.
	slack float64
}

// PreScore finds out what the nodes' scores are made of. It skips workloads
// without preferred constraints.
//
// Where workloads have constraints of their own, or those of a list, nodes that
// lack one of the keys take no part. Under the default constraints of System
// they do, and nodes without a zone are one zone, which is also that of nodes
// whose zone has an empty name.
func (p *PodTopologySpread) PreScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) *extpoints.Status {
	found := p.prefer(s, w, nil, len(nodes), func(i int) int32 { return nodes[i].Slot })
	if found == nil {
		return skip
	}
	preferences.Set(s, found)
	return nil
}

// prefer finds out what the scores of so many nodes, each of which is in a slot, are made of; nil
// where that is nothing. It holds until the memory is released.
func (p *PodTopologySpread) prefer(s *extpoints.CycleState, w *extpoints.WorkloadInfo, memory *scratch, nodes int, slot func(i int) int32) *preference {
	list := p.constraints(w.Workload, model.SpreadPreferred)
	if len(list) == 0 || s.View().Nodes().Len() == 0 {
		return nil
	}
	v := takeSurvey(s.View(), w, list, model.SpreadPreferred, len(w.Spread) > 0 || !p.systemDefaults, memory)
	found := &preference{terms: make([]term, len(list)), allKeys: v.allKeys}
	for i := range list {
		found.terms[i] = v.term(i)
	}
	found.weigh(s.View().Nodes().Len(), v.topologies, nodes, slot)
	return found
}

// term is the term of constraint i, without the weight.
func (v *survey) term(i int) term {
	t := term{of: v.topologies[i].Of, slack: float64(v.constraints[i].maxSkew - 1)}
	if key := v.constraints[i].key; key == hostKey || key == model.ByNode {
		// Whatever the inclusion policies say: it is the node's own count.
		t.perNode, t.counts = true, v.counts[i]
		return t
	}
	t.counts = v.byDomain(i)
	if unnamed := unnamedDomain(v.topologies[i]); unnamed != 0 && !v.allKeys {
		// Where all nodes have the key there is nothing to add.
		t.counts[0] += t.counts[unnamed]
		t.counts[unnamed] = t.counts[0]
	}
	return t
}

// unnamedDomain is the number of the domain whose name is empty, 0 where there
// is none.
func unnamedDomain(t *extpoints.Topology) int32 {
	return int32(slices.Index(t.Values[1:], "") + 1)
}

// weigh fills in the weights, which depend on how many domains the nodes that
// will be scored are in. Where no node is left out, it need not look at more of
// them than it takes to have seen every domain of all there are.
func (f *preference) weigh(all int, topologies []*extpoints.Topology, nodes int, slot func(i int) int32) {
	scored, open := 0, 0
	seen := make([]domainSet, len(f.terms))
	for i, t := range topologies {
		if !f.terms[i].perNode {
			seen[i] = newDomainSet(t, all)
			open++
		}
	}
	for j := range nodes {
		if open == 0 && !f.allKeys {
			scored = nodes
			break
		}
		at := slot(j)
		if f.leavesOut(at) {
			continue
		}
		scored++
		for i := range seen {
			if t := &f.terms[i]; !t.perNode && seen[i].add(t.of[at]) {
				open--
			}
		}
	}
	for i := range f.terms {
		size := scored
		if !f.terms[i].perNode {
			size = seen[i].size
		}
		f.terms[i].weight = math.Log(float64(size + 2))
	}
}

// domainSet is a set of domains, in which 0, for nodes without the key, and the
// domain without a name are the same.
type domainSet struct {
	in      []bool
	unnamed int32
	size    int
	most    int // there are, over all nodes
}

// newDomainSet makes an empty set for the topology of so many nodes.
func newDomainSet(t *extpoints.Topology, all int) domainSet {
	d := domainSet{in: make([]bool, len(t.Values)), unnamed: unnamedDomain(t), most: len(t.Values) - 1}
	for _, n := range t.Nodes {
		all -= int(n)
	}
	if all > 0 && d.unnamed == 0 {
		d.most++ // some have no domain, and that is one
	}
	return d
}

// add reports whether it has made the set complete.
func (d *domainSet) add(domain int32) bool {
	if domain == d.unnamed {
		domain = 0
	}
	if d.in[domain] {
		return false
	}
	d.in[domain] = true
	d.size++
	return d.size == d.most
}

// leavesOut reports whether the node in the slot is given no score.
func (f *preference) leavesOut(slot int32) bool {
	if f.allKeys {
		for i := range f.terms {
			if f.terms[i].of[slot] == 0 {
				return true
			}
		}
	}
	return false
}

// Score adds up what the preferred constraints make of a node: the less the
// better.
func (p *PodTopologySpread) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	f, ok := preferences.Get(s)
	if !ok {
		return 0, p.unprepared(w)
	}
	return f.score(node.Slot), nil
}

// score is the score of the node in the slot.
func (f *preference) score(slot int32) int64 {
	if f.leavesOut(slot) {
		return 0
	}
	var score float64
	for i := range f.terms {
		t := &f.terms[i]
		at := t.of[slot]
		if at == 0 {
			continue
		}
		if t.perNode {
			at = slot
		}
		// The conversion keeps the product from being fused with the sum on
		// machines that can, which would round differently.
		score += float64(float64(t.counts[at])*t.weight) + t.slack
	}
	return int64(math.Round(score))
}

// unprepared is the status without PreScore.
func (p *PodTopologySpread) unprepared(w *extpoints.WorkloadInfo) *extpoints.Status {
	if len(p.constraints(w.Workload, model.SpreadPreferred)) > 0 {
		return extpoints.AsStatus(errNoPreScore)
	}
	return nil
}

// NormalizeScore turns the scores round, so that less is better, and stretches
// them so that the best node has full marks. Nodes that lack a key have none.
func (p *PodTopologySpread) NormalizeScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	f, ok := preferences.Get(s)
	if !ok {
		return p.unprepared(w)
	}
	f.normalize(scores, func(i int) int32 { return nodes[i].Slot })
	return nil
}

// normalize is NormalizeScore of nodes of which each is in a slot.
func (f *preference) normalize(scores []int64, slot func(i int) int32) {
	least, most := int64(math.MaxInt64), int64(0)
	for i, score := range scores {
		if !f.allKeys || !f.leavesOut(slot(i)) {
			least, most = min(least, score), max(most, score)
		}
	}
	last, made := int64(-1), int64(0) // many nodes have the same
	for i, score := range scores {
		switch {
		case f.allKeys && f.leavesOut(slot(i)):
			scores[i] = 0
		case most == 0:
			scores[i] = extpoints.MaxScore
		default:
			if score != last {
				last, made = score, extpoints.MaxScore*(most+least-score)/most
			}
			scores[i] = made
		}
	}
}
