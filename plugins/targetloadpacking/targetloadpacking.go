package targetloadpacking

import (
	"math"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// settling is how long before the end of a measurement a workload must have been placed for
// the measurement to have it.
const settling = time.Minute

// TargetLoadPacking is the plugin. It has no state.
type TargetLoadPacking struct {
	args   Args
	maxAge time.Duration
}

// New makes the plugin. The error lists everything that is wrong with the arguments.
func New(a Args, h extpoints.Handle) (*TargetLoadPacking, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return &TargetLoadPacking{args: a.withDefaults(), maxAge: helper.LoadAge(a.MaxAge, h.Compat())}, nil
}

// Name returns the plugin's name.
func (*TargetLoadPacking) Name() string { return Name }

// Score says how near to the target the workload takes the CPU of the node.
func (p *TargetLoadPacking) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	load := helper.FreshLoad(s, node.Node.Name, p.maxAge)
	measured := helper.LongestWindow(load, model.CPU)
	if measured == nil {
		return 0, nil
	}
	used := p.predict(w.Workload)
	for _, placed := range node.Workloads {
		if placed.PlacedAt.After(load.At.Add(-settling)) {
			used += p.predict(placed.Workload)
		}
	}
	return p.score(measured.Average, used, float64(helper.CapacityOf(node.Node, model.CPU))), nil
}

// predict is what the workload is going to use, in milli-CPU.
func (p *TargetLoadPacking) predict(w *model.Workload) float64 {
	switch {
	case w.UsageLimits.CPU > 0:
		return float64(w.UsageLimits.CPU)
	case w.Requests.CPU > 0:
		return math.Round(float64(w.Requests.CPU) * *p.args.Multiplier)
	}
	return float64(*p.args.DefaultRequest)
}

// score is that of a load in percent of the capacity and what comes to it.
func (p *TargetLoadPacking) score(percent, more, capacity float64) int64 {
	target, expected := float64(p.args.Target), 0.0
	if capacity != 0 {
		expected = 100 * (percent/100*capacity + more) / capacity
	}
	switch {
	case expected > 100:
		return 0
	case expected > target:
		return int64(math.Round(target * (100 - expected) / (100 - target)))
	}
	return int64(math.Round((100-target)*expected/target + target))
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads what the prediction depends on.
func (*TargetLoadPacking) NodeLocal(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return helper.AppendUsage(key, w.Workload), true
}

// Sign signs what the prediction depends on.
func (*TargetLoadPacking) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return helper.UsageFragments(w), nil
}

var (
	_ extpoints.ScorePlugin     = (*TargetLoadPacking)(nil)
	_ extpoints.NodeLocalPlugin = (*TargetLoadPacking)(nil)
	_ extpoints.SignPlugin      = (*TargetLoadPacking)(nil)
)
