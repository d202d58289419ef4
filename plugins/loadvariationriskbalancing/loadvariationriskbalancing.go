package loadvariationriskbalancing

import (
	"math"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// LoadVariationRiskBalancing is the plugin. It has no state.
type LoadVariationRiskBalancing struct {
	margin, sensitivity float64
	maxAge              time.Duration
}

// New makes the plugin. The error lists everything that is wrong with the arguments.
func New(a Args, h extpoints.Handle) (*LoadVariationRiskBalancing, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	a = a.withDefaults()
	return &LoadVariationRiskBalancing{*a.Margin, *a.Sensitivity, helper.LoadAge(a.MaxAge, h.Compat())}, nil
}

// Name returns the plugin's name.
func (*LoadVariationRiskBalancing) Name() string { return Name }

// Score is 100 less the greater of the risks for CPU and memory, in percent.
func (p *LoadVariationRiskBalancing) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	load := helper.FreshLoad(s, node.Node.Name, p.maxAge)
	score, measured := 100.0, false
	for _, name := range []string{model.CPU, model.Memory} {
		if m := helper.LongestWindow(load, name); m != nil {
			score, measured = min(score, p.score(m, w.Requests.Get(name), node.Node.Allocatable.Get(name))), true
		}
	}
	if !measured {
		return 0, nil
	}
	return int64(math.Round(score)), nil
}

// score is 100 less the risk for one resource, in percent.
func (p *LoadVariationRiskBalancing) score(m *model.ResourceLoad, request, capacity int64) float64 {
	if capacity <= 0 {
		return 0
	}
	// By amounts, as upstream: percentages would round to another score now and then.
	whole := float64(capacity)
	amount := func(percent float64) float64 { return min(percent*whole/100, whole) }
	mu := helper.Part((amount(m.Average) + float64(request)) / whole)
	// The root of 0 is 1 divided by 0: to the power of infinity only 1 is not 0.
	sigma := helper.Part(p.margin * math.Pow(amount(m.StdDev)/whole, 1/p.sensitivity))
	return (1 - (mu+sigma)/2) * 100
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads what the workload requests.
func (*LoadVariationRiskBalancing) NodeLocal(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return helper.AppendRequests(key, w.Workload), true
}

// Sign signs what the workload requests.
func (*LoadVariationRiskBalancing) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return helper.RequestsFragments(w), nil
}

var (
	_ extpoints.ScorePlugin     = (*LoadVariationRiskBalancing)(nil)
	_ extpoints.NodeLocalPlugin = (*LoadVariationRiskBalancing)(nil)
	_ extpoints.SignPlugin      = (*LoadVariationRiskBalancing)(nil)
)
