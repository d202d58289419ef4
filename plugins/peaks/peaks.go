package peaks

import (
	"math"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Peaks is the plugin. It has no state.
type Peaks struct {
	models  map[string]PowerModel
	maxAge  time.Duration
	unknown int64 // the score of a node of which nothing can be said
	rounds  bool  // as upstream where a score is too large
}

// New makes the plugin. The error lists everything that is wrong with the arguments.
func New(a Args, h extpoints.Handle) (*Peaks, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	p := &Peaks{models: a.Models, maxAge: helper.LoadAge(a.MaxAge, h.Compat()), unknown: math.MaxInt64}
	if h.Compat() == extpoints.KubeScheduler137 {
		p.unknown, p.rounds = 0, true
	}
	return p, nil
}

// Name returns the plugin's name.
func (*Peaks) Name() string { return Name }

// Score is what the workload adds to the power, in 10^-15 watts. The largest of all numbers
// says that nothing can be said of the node.
func (p *Peaks) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	measured := helper.LongestWindow(helper.FreshLoad(s, node.Node.Name, p.maxAge), model.CPU)
	power, known := p.models[node.Node.Name]
	if measured == nil || !known {
		return p.unknown, nil
	}
	expected := 0.0
	if capacity := float64(helper.CapacityOf(node.Node, model.CPU)); capacity != 0 {
		expected = 100 * (measured.Average/100*capacity + float64(w.Requests.CPU)) / capacity
	}
	if expected > 100 {
		return p.unknown, nil
	}
	return added(power, measured.Average, expected), nil
}

// added is what is added between the two percentages.
func added(m PowerModel, from, to float64) int64 {
	const parts, most = 1e15, math.MaxInt64 - 1
	switch watts := m.K1 * (math.Exp(m.K2*to) - math.Exp(m.K2*from)) * parts; {
	case watts >= most || math.IsNaN(watts):
		return most
	case watts <= -most:
		return -most
	default:
		return int64(watts)
	}
}

// NormalizeScore makes the least the best.
func (p *Peaks) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	known := slices.DeleteFunc(slices.Clone(scores), func(score int64) bool { return score == math.MaxInt64 })
	if len(known) == 0 {
		clear(scores)
		return nil
	}
	least, most := slices.Min(known), slices.Max(known)
	if least == 0 && most == 0 && len(known) == len(scores) {
		return nil // nobody adds anything
	}
	for i, score := range scores {
		switch {
		case score == math.MaxInt64:
			scores[i] = 0
		case most == least:
			scores[i] = extpoints.MaxScore
		default:
			scores[i] = extpoints.MaxScore - p.stretch(score, least, most)
		}
	}
	return nil
}

// stretch is where the score is between the least and the most, from 0 to 100. Upstream's hundredfold
// of a score is rounded where a float64 does not hold it, so that the most may come out as 99.
func (p *Peaks) stretch(score, least, most int64) int64 {
	if p.rounds {
		return int64(float64(extpoints.MaxScore) * float64(score-least) / float64(most-least))
	}
	return helper.Stretch(score, least, most, extpoints.MaxScore)
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads the CPU request.
func (*Peaks) NodeLocal(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return helper.Canon(key).Int(w.Requests.CPU), true
}

// Sign signs what a prediction of the usage depends on; of that Score looks at the requests.
func (*Peaks) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return helper.UsageFragments(w), nil
}

var (
	_ extpoints.ScoreNormalizer = (*Peaks)(nil)
	_ extpoints.NodeLocalPlugin = (*Peaks)(nil)
	_ extpoints.SignPlugin      = (*Peaks)(nil)
)
