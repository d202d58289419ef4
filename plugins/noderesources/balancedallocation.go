package noderesources

import (
	"math"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

var skip = extpoints.NewStatus(extpoints.Skip)

// balancedRequests holds, from PreScore to Score, what the workload requests of
// each resource that counts.
var balancedRequests = extpoints.NewStateKey[[]int64](BalancedAllocationName + "/requests")

// BalancedAllocation is the plugin NodeResourcesBalancedAllocation.
//
// Rules: kube-scheduler plugins/noderesources/balanced_allocation.go, 1.37.1.
type BalancedAllocation struct {
	resources []resource
}

// NewBalancedAllocation makes the plugin. Its arguments are
// [BalancedAllocationArgs].
func NewBalancedAllocation(a BalancedAllocationArgs, _ extpoints.Handle) (*BalancedAllocation, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return &BalancedAllocation{resources: resourcesOf(a.WithDefaults().Resources)}, nil
}

// Name returns the plugin's name.
func (*BalancedAllocation) Name() string { return BalancedAllocationName }

// PreScore lists what the workload requests, and skips workloads that request
// nothing of the resources that count: they change no balance, and would all go
// to the same node.
func (b *BalancedAllocation) PreScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo) *extpoints.Status {
	requests, any := b.requests(w.Workload)
	if !any {
		return skip
	}
	balancedRequests.Set(s, requests)
	return nil
}

// requests lists what the workload requests, in the order of the resources, and
// says whether that is anything at all.
func (b *BalancedAllocation) requests(w *model.Workload) (list []int64, any bool) {
	list = make([]int64, len(b.resources))
	for i, r := range b.resources {
		list[i] = w.Requests.Get(r.name)
		any = any || list[i] != 0
	}
	return list, any
}

// Score says how much more even the node's resources would be used with the
// workload than without: 75 for no change, up to 100 for better and down to 50
// for worse.
func (b *BalancedAllocation) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	requests, ok := balancedRequests.Get(s)
	if !ok {
		var any bool
		if requests, any = b.requests(w.Workload); !any {
			return 0, nil
		}
	}
	// Room for the usual number of resources without going to the heap.
	var roomWith, roomWithout [4]float64
	with, without := roomWith[:0], roomWithout[:0]
	for i := range b.resources {
		r := &b.resources[i]
		if !r.counts(requests[i]) {
			continue
		}
		if capacity := r.capacity(node.Node); capacity != 0 {
			used := r.requested(node)
			with = append(with, fraction(sum(used, requests[i]), capacity))
			without = append(without, fraction(used, capacity))
		}
	}
	const half = extpoints.MaxScore / 2
	return half + (half+evenness(with)-evenness(without))/2, nil
}

// fraction is the used part of the capacity, at least nothing (a sum of requests
// that stopped at the limits of int64 may be below) and at most the whole.
func fraction(used, capacity int64) float64 {
	return min(max(float64(used)/float64(capacity), 0), 1)
}

// evenness is 100 where all fractions are the same, and less the further they
// are apart: one minus their standard deviation, in percent, rounded down. The
// order of the floating-point operations is that of the reference; another one
// would now and then round to another number.
func evenness(fractions []float64) int64 {
	deviation := 0.0
	switch n := len(fractions); {
	case n == 2:
		deviation = math.Abs((fractions[0] - fractions[1]) / 2)
	case n > 2:
		var sum, squares float64
		for _, f := range fractions {
			sum += f
		}
		middle := sum / float64(n)
		for _, f := range fractions {
			// The conversion forbids fusing the product into the sum, which
			// some processors would do with another rounding.
			squares += float64((f - middle) * (f - middle))
		}
		deviation = math.Sqrt(squares / float64(n))
	}
	return int64((1 - deviation) * float64(extpoints.MaxScore))
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads the requests.
func (*BalancedAllocation) NodeLocal(s *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return helper.AppendRequests(key, w.Workload), true
}

// Sign signs the requests and the estimated load.
func (*BalancedAllocation) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return helper.RequestsFragments(w), nil
}

var (
	_ extpoints.PreScorePlugin  = (*BalancedAllocation)(nil)
	_ extpoints.ScorePlugin     = (*BalancedAllocation)(nil)
	_ extpoints.NodeLocalPlugin = (*BalancedAllocation)(nil)
	_ extpoints.SignPlugin      = (*BalancedAllocation)(nil)
)
