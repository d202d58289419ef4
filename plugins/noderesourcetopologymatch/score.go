package noderesourcetopologymatch

import (
	"math"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Score is how well the zones of the node suit the workload, by the strategy. Workloads that
// are not guaranteed what they request go to any node as well.
func (p *NodeResourceTopologyMatch) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	if w.QoSClass() != model.Guaranteed {
		return extpoints.MaxScore, nil
	}
	v := s.View()
	t := v.NodeTopology(node.Node.Name)
	if t == nil || s.TooOld(t.At, p.maxAge) || t.Policy != model.AlignSingleZone && p.strategy != LeastNUMANodes {
		return 0, nil
	}
	left, ok := p.leftOn(v, t, node)
	if !ok {
		return 0, nil
	}
	z := zones{of: t, left: left, shared: true}
	parts := partsOf(w.Workload)
	if t.Scope == model.AlignWorkload {
		parts = []model.Container{{Requests: w.Requests}}
	}
	if p.strategy == LeastNUMANodes {
		return z.fewest(parts, p.like), nil
	}
	var few [8]amount
	var sum, n int64
	for i := range parts {
		if wanted := amounts(few[:0], &parts[i].Requests); len(wanted) > 0 {
			sum += p.scoreOf(&z, wanted)
			n++
		}
	}
	if n == 0 {
		return 0, nil
	}
	return sum / n, nil
}

// scoreOf is the least that a zone scores for what is wanted, of those that score more than
// 0: the node may put it there.
func (p *NodeResourceTopologyMatch) scoreOf(z *zones, wanted []amount) (least int64) {
	for i := range z.of.Zones {
		var score int64
		if p.strategy == BalancedAllocation {
			score = p.balance(z, i, wanted)
		} else {
			score = p.allocation(z, i, wanted)
		}
		if score > 0 && (least == 0 || score < least) {
			least = score
		}
	}
	return least
}

// allocation is the weighted mean of what would be left of each resource in the zone or, with
// MostAllocated, of what is wanted, in percent of what there is.
func (p *NodeResourceTopologyMatch) allocation(z *zones, zone int, wanted []amount) int64 {
	var sum, weights int64
	for _, a := range wanted {
		left, _ := z.get(zone, a.name)
		weight := p.weight(a.name)
		weights += weight
		if left == 0 || a.n > left {
			continue
		}
		n, left := p.counted(a.name, a.n), p.counted(a.name, left)
		if p.strategy == MostAllocated {
			sum += weight * helper.Stretch(n, 0, left, extpoints.MaxScore)
		} else {
			sum += weight * helper.Stretch(left-n, 0, left, extpoints.MaxScore)
		}
	}
	return sum / weights
}

// counted is the amount as it counts in scores: for upstream a part of a core is a whole one.
func (p *NodeResourceTopologyMatch) counted(name string, n int64) int64 {
	if p.like && name == model.CPU {
		return n/1000 + min(n%1000, 1)
	}
	return n
}

// balance is 100 less the variance of the parts that are wanted of what is left in the zone,
// in percent; 0 where something is not enough.
func (p *NodeResourceTopologyMatch) balance(z *zones, zone int, wanted []amount) int64 {
	var mean, sum float64
	for _, a := range wanted {
		f := p.fraction(z, zone, a)
		if f > 1 {
			return 0
		}
		mean += f / float64(len(wanted))
	}
	if len(wanted) == 1 {
		return extpoints.MaxScore
	}
	for _, a := range wanted {
		d := p.fraction(z, zone, a) - mean
		sum += d * d
	}
	return int64((1 - sum/float64(len(wanted)-1)) * float64(extpoints.MaxScore))
}

func (p *NodeResourceTopologyMatch) fraction(z *zones, zone int, a amount) float64 {
	left, _ := z.get(zone, a.name)
	if left == 0 {
		return 1
	}
	return math.Min(float64(p.counted(a.name, a.n))/float64(p.counted(a.name, left)), 2)
}
