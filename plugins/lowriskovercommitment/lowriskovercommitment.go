package lowriskovercommitment

import (
	"math"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// LowRiskOverCommitment is the plugin. It has no state.
type LowRiskOverCommitment struct {
	args   Args
	maxAge time.Duration
}

// New makes the plugin. The error lists everything that is wrong with the arguments.
func New(a Args, h extpoints.Handle) (*LowRiskOverCommitment, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return &LowRiskOverCommitment{args: a.withDefaults(), maxAge: helper.LoadAge(a.MaxAge, h.Compat())}, nil
}

// Name returns the plugin's name.
func (*LowRiskOverCommitment) Name() string { return Name }

// Score is 100 less the greater of the risks for CPU and memory, in percent.
func (p *LowRiskOverCommitment) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	load := helper.FreshLoad(s, node.Node.Name, p.maxAge)
	if load == nil || mayUse(w.Workload, model.CPU) == 0 && mayUse(w.Workload, model.Memory) == 0 {
		return 0, nil
	}
	risk := 0.0
	for _, name := range []string{model.CPU, model.Memory} {
		risk = max(risk, p.risk(name, promised(name, w.Workload, node), helper.LongestWindow(load, name)))
	}
	return int64(math.Round((1 - risk) * 100)), nil
}

// mayUse is the most that the workload is taken to use of the resource.
func mayUse(w *model.Workload, name string) int64 {
	return max(w.UsageLimits.Get(name), w.Requests.Get(name))
}

// sums are what the workloads on a node request of a resource and may use of it, with the
// workload that is looked at and without. Requests are no more than the capacity, which is
// what can be allocated.
type sums struct {
	request, limit               int64
	requestWithout, limitWithout int64
	capacity                     int64
}

// part is the amount as a part of the capacity.
func (n *sums) part(amount int64) float64 { return float64(amount) / float64(n.capacity) }

// plus adds amounts, up to the largest there is.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// promised are the sums of the resource on the node.
func promised(name string, w *model.Workload, node *extpoints.NodeInfo) sums {
	var n sums
	n.capacity = node.Node.Allocatable.Get(name)
	for _, other := range node.Workloads {
		n.requestWithout = plus(n.requestWithout, other.Requests.Get(name))
		n.limitWithout = plus(n.limitWithout, mayUse(other.Workload, name))
	}
	n.request = min(plus(n.requestWithout, w.Requests.Get(name)), n.capacity)
	n.limit = plus(n.limitWithout, mayUse(w, name))
	n.requestWithout = min(n.requestWithout, n.capacity)
	return n
}

// risk is that of the resource, from 0 to 1; what was measured may be nil.
func (p *LowRiskOverCommitment) risk(name string, n sums, measured *model.ResourceLoad) float64 {
	byLimits, byLoad := 0.0, 0.0
	if n.limit > n.capacity {
		byLimits = float64(n.limit-n.capacity) / float64(n.limit-n.request)
	}
	if measured != nil && n.capacity > 0 {
		byLoad = 1 - p.withinRequests(n, measured)
	}
	weight := p.args.weight(name)
	return helper.Part(weight*byLimits + (1-weight)*byLoad)
}

// largestVariance is how much of the largest variance that a beta distribution of the same
// mean can have that of the load may be.
const largestVariance = 0.99

// withinRequests is how probable it is that the load is no more than the requests of what is on
// the node, given that it is no more than their limits.
func (p *LowRiskOverCommitment) withinRequests(n sums, measured *model.ResourceLoad) float64 {
	mu, sigma := helper.Part(measured.Average/100), helper.Part(measured.StdDev/100)
	sigma = min(sigma*math.Sqrt(float64(p.args.Smoothing)), math.Sqrt(mu*(1-mu)*largestVariance))
	atMost := distribution(mu, sigma)
	within := atMost(n.part(n.requestWithout))
	if n.limitWithout >= n.capacity || n.requestWithout > n.limitWithout {
		return within
	}
	if n.limitWithout == 0 {
		return 1 // nothing is on the node
	}
	if all := atMost(n.part(n.limitWithout)); mu > 0 && sigma > 0 && all > 0 {
		within = helper.Part(within / all)
	}
	return within
}

// distribution returns how probable a load is of no more than a part of the whole.
func distribution(mu, sigma float64) func(part float64) float64 {
	variance := sigma * sigma
	switch {
	case mu == 0:
		return func(float64) float64 { return 1 }
	case sigma == 0:
		return func(x float64) float64 {
			if mu <= x {
				return 1
			}
			return 0
		}
	case variance >= mu*(1-mu): // no beta distribution has it
		return func(float64) float64 { return 0 }
	}
	t := mu*(1-mu)/variance - 1
	return func(x float64) float64 { return betaAtMost(mu*t, (1-mu)*t, x) }
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads what the workload requests and may use.
func (*LowRiskOverCommitment) NodeLocal(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return helper.AppendUsage(key, w.Workload), true
}

// Sign signs what the workload requests and may use.
func (*LowRiskOverCommitment) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return helper.UsageFragments(w), nil
}

var (
	_ extpoints.ScorePlugin     = (*LowRiskOverCommitment)(nil)
	_ extpoints.NodeLocalPlugin = (*LowRiskOverCommitment)(nil)
	_ extpoints.SignPlugin      = (*LowRiskOverCommitment)(nil)
)
