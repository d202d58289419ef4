package loadawarescheduling

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// New makes the plugin. The error lists everything that is wrong with the arguments.
func New(a Args, h extpoints.Handle) (*LoadAwareScheduling, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	p := &LoadAwareScheduling{handle: h, args: a.withDefaults()}
	p.maxAge = p.args.MaxAge - 1 // one of just that age is too old
	list, reason := p.args.Thresholds, "node(s) %s usage exceed threshold"
	if g := a.Aggregated; g != nil && len(g.Thresholds) > 0 {
		list, reason = g.Thresholds, "node(s) %s aggregated usage exceed threshold"
		p.filter = g.Filter
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if list[name] > 0 {
			p.thresholds = append(p.thresholds, threshold{name, list[name], extpoints.NewStatus(extpoints.Unschedulable, fmt.Sprintf(reason, name))})
		}
	}
	p.scored = slices.Sorted(maps.Keys(p.args.Weights))
	if len(p.scored) == 0 {
		p.scored = slices.Sorted(maps.Keys(p.args.ScalingFactors))
	}
	return p, nil
}

// Name returns the plugin's name.
func (*LoadAwareScheduling) Name() string { return Name }

var expired = extpoints.NewStatus(extpoints.Unschedulable, "node(s) nodeMetric expired")

// Filter rejects nodes that would be busier than a threshold, and those with a measurement
// that is too old.
func (p *LoadAwareScheduling) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	load := s.View().NodeLoad(node.Node.Name)
	if load == nil || len(p.thresholds) == 0 {
		return nil
	}
	if !p.args.KeepExpired && helper.FreshLoad(s, node.Node.Name, p.maxAge) == nil {
		if p.args.AllowExpired {
			return nil
		}
		return expired
	}
	return p.beyond(w.Workload, node, load)
}

// beyond is why the node with the load would be busier than a threshold, nil where it would
// not.
func (p *LoadAwareScheduling) beyond(w *model.Workload, node *extpoints.NodeInfo, load *model.NodeLoad) *extpoints.Status {
	if len(load.Resources) == 0 {
		return nil
	}
	used := p.usageOn(node, load, p.filter)
	for i := range p.thresholds {
		t := &p.thresholds[i]
		total := node.Node.Allocatable.Get(t.resource)
		if total > 0 && math.Round(used.of(t.resource, w)/float64(total)*100) > float64(t.percent) {
			return t.status
		}
	}
	return nil
}

// Score is the weighted mean of what is left of the resources, in percent.
func (p *LoadAwareScheduling) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	load := helper.FreshLoad(s, node.Node.Name, p.maxAge)
	if load == nil || len(load.Resources) == 0 {
		return 0, nil
	}
	var m Measure
	if g := p.args.Aggregated; g != nil {
		m = g.Score
	}
	used := p.usageOn(node, load, m)
	sum, weights, least := int64(0), p.args.DominantWeight, extpoints.MaxScore
	for _, name := range p.scored {
		score := left(used.of(name, w.Workload), node.Node.Allocatable.Get(name))
		sum += score * p.args.Weights[name]
		weights += p.args.Weights[name]
		least = min(least, score)
	}
	return (sum + least*p.args.DominantWeight) / weights, nil
}

// left is what is left of the whole, in percent.
func left(used float64, whole int64) int64 {
	if whole <= 0 || used >= float64(whole) {
		return 0
	}
	return helper.Stretch(whole-int64(used), 0, whole, extpoints.MaxScore)
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads what the estimate depends on.
func (*LoadAwareScheduling) NodeLocal(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return helper.AppendUsage(key, w.Workload), true
}

// Sign signs what the estimate depends on.
func (*LoadAwareScheduling) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return helper.UsageFragments(w), nil
}

var (
	_ extpoints.FilterPlugin      = (*LoadAwareScheduling)(nil)
	_ extpoints.ScorePlugin       = (*LoadAwareScheduling)(nil)
	_ extpoints.EnqueueExtensions = (*LoadAwareScheduling)(nil)
	_ extpoints.NodeLocalPlugin   = (*LoadAwareScheduling)(nil)
	_ extpoints.SignPlugin        = (*LoadAwareScheduling)(nil)
)
