package devicepacking

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// rollout prefers the node and the devices after which the potential of the node
// grows least (see [mix.potential]), at the price of the models of the devices (see
// [prices]):
//
//	potential before - potential after - sum over the devices of price * share
//
// Potentials are estimates, from a sample, so gains are rounded (see mix.grain): of nodes that gain
// the same then, the one with least left is preferred. The scores are
// normalised so that the worst feasible node has 0 and the best 100; only the best
// has 100. For a share every device that fits is tried; of equally good ones that
// with least left is taken, and of those the first. Whole devices are the wholly free ones
// of the lowest index.
//
// All of it is integer arithmetic, and a function of the workload and the view.
type rollout struct {
	deterministic
	given   *mix // nil: the mix is learned
	learner *learner
	known   *gainMemory
	supply  *supply
}

var (
	_ extpoints.PreScorePlugin  = (*rollout)(nil)
	_ extpoints.ScoreNormalizer = (*rollout)(nil)
	_ helper.DeviceChooser      = (*rollout)(nil)
)

func newRollout(b base, a Args) extpoints.ScorePlugin {
	p := &rollout{deterministic: deterministic{b}, known: &gainMemory{}, supply: newSupply(a)}
	if len(a.Typical) > 0 {
		p.given = newMix(a.Typical)
	} else {
		p.learner = newLearner(p.supply, a.Relearn)
	}
	return p
}

var unsignedOutlook = extpoints.NewStatus(extpoints.Unschedulable, "the score depends on all nodes")

// Sign refuses all workloads where the mix is learned or models have prices: both
// depend on all nodes.
func (p *rollout) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	if p.given == nil || len(p.given.choosy) > 0 {
		return nil, unsignedOutlook
	}
	return p.deterministic.Sign(w)
}

// PreFilter makes the plugin choose the devices.
func (p *rollout) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	return p.makeChoice(s, w, p)
}

// outlook is what a cycle goes by: the workloads to come, what models cost now, what the
// workload asks for, and what is remembered for it.
type outlook struct {
	mix      *mix
	prices   prices
	requests []model.DeviceRequest
	units    int64 // of the resource, if devices are counted by one
	gains    *gains
	number   int // of the workload in gains; -1: nothing is remembered for it
}

var outlookKey = extpoints.NewStateKey[*outlook](Name + "/outlook")

// PreScore looks at all nodes.
func (p *rollout) PreScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo) *extpoints.Status {
	outlookKey.Set(s, p.look(s, w))
	return nil
}

// outlook is that of PreScore, which does not run where only one node is feasible.
func (p *rollout) outlook(s *extpoints.CycleState, w *extpoints.WorkloadInfo) *outlook {
	if o, ok := outlookKey.Get(s); ok {
		return o
	}
	return p.look(s, w)
}

func (p *rollout) look(s *extpoints.CycleState, w *extpoints.WorkloadInfo) *outlook {
	m := p.given
	if m == nil {
		m = p.learner.mix(s.View(), s.Now())
	}
	o := &outlook{mix: m, prices: m.pricesOf(p.supply, s.View().Nodes()), number: -1}
	k := demandKind{cpu: w.Requests.CPU}
	if p.supply.ofResource() {
		o.units = w.Requests.Scalar(p.supply.resource)
		k.share, k.count = o.units, 1
	} else if o.requests = p.supply.requests(w.Workload); len(o.requests) == 1 {
		k.share, k.count = o.requests[0].Share, o.requests[0].Count
	}
	if len(o.requests) <= 1 {
		o.gains, o.number = p.known.of(m, k, s.View().Index().Slots())
	}
	return o
}

// Score is the formula, which NormalizeScore brings into range. Several requests
// are placed one after the other.
func (p *rollout) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	o := p.outlook(s, w)
	score := o.mix.rounded(p.remembered(o, w, node)) - min(p.supply.idle(node), o.mix.grain-1)
	return min(max(score, -farthest), farthest), nil
}

// remembered is the gain on the node, from memory where it is known.
func (p *rollout) remembered(o *outlook, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) int64 {
	if o.number < 0 {
		return p.gain(o, w, node)
	}
	known := o.gains.of(p.supply, node, o.number)
	if known == nil || !known.uniform || len(o.requests) > 0 && !enough(&o.requests[0], node) {
		return p.gain(o, w, node)
	}
	paid := p.paidOn(o, node)
	kept := known.gains[o.number].Load()
	if kept == 0 {
		kept = packed(p.gain(o, w, node) + paid)
		known.gains[o.number].Store(kept)
	}
	return unpacked(kept) - paid
}

// enough reports whether the node, which has devices of one model, has enough for the request.
func enough(r *model.DeviceRequest, node *extpoints.NodeInfo) bool {
	missing := r.Count
	for _, g := range node.DeviceFree {
		if g >= r.Share {
			missing--
		}
	}
	return missing <= 0 && (len(r.Models) == 0 || r.Admits(&node.Node.Devices[0]))
}

// paidOn is what the workload pays on a node with devices of one model, of which there are
// enough.
func (p *rollout) paidOn(o *outlook, node *extpoints.NodeInfo) int64 {
	switch {
	case len(o.prices) == 0:
		return 0
	case p.supply.ofResource():
		return o.prices[o.mix.models[node.Node.Labels[p.supply.label]]] * p.supply.sum(o.units)
	case len(o.requests) > 0:
		return o.prices[o.mix.models[node.Node.Devices[0].Model]] * o.requests[0].Total()
	}
	return 0
}

// gain is what the potential of the node falls by, less the prices of the devices.
func (p *rollout) gain(o *outlook, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) int64 {
	var b buffer
	left := p.supply.pool(&b, node)
	before := o.mix.potentialOf(&left)
	left.cpu -= w.Requests.CPU
	var paid int64
	if p.supply.ofResource() {
		p.supply.fill(&left, p.supply.unitsLeft(node)-o.units)
		paid = p.paidOn(o, node)
	}
	for i := range o.requests {
		paid += o.place(&left, &o.requests[i])
	}
	return before - o.mix.potentialOf(&left) - paid
}

// farthest bounds raw scores, so that those of absurdly large nodes can still be
// normalised.
const farthest = 1 << 55

// NormalizeScore spreads the scores over 0 to 100, truncating; equal scores all
// become 0.
func (p *rollout) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	normalize(scores)
	return nil
}

// ChooseDevices chooses the device that was scored, for shares; the choice of
// whole devices is the one that all policies make.
func (p *rollout) ChooseDevices(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo, request int, free []int64) []int {
	r := &w.Workload.Devices[request]
	if r.Class != p.class || r.IsWhole() {
		return nil
	}
	var b buffer
	left := newPool(&b, p.class, node)
	left.load(free)
	left.cpu -= w.Requests.CPU
	if d := p.outlook(s, w).best(&left, r); d >= 0 {
		return []int{left.indexOf(d)}
	}
	return nil
}

// place takes devices for the request out of the pool, as far as there are any,
// and returns what they cost.
func (o *outlook) place(left *pool, r *model.DeviceRequest) int64 {
	var buffer [stackDevices]int
	var chosen []int
	if r.IsWhole() {
		chosen, _ = helper.TightestDevices(buffer[:0], left.devices, left.free, r)
	} else if d := o.best(left, r); d >= 0 {
		chosen = append(buffer[:0], d)
	}
	var paid int64
	for _, d := range chosen {
		left.free[d] -= r.Share
		paid += o.price(left, d) * r.Share
	}
	return paid
}

func (o *outlook) price(left *pool, d int) int64 {
	if len(o.prices) == 0 {
		return 0
	}
	return o.prices[o.mix.models[left.devices[d].Model]]
}

// best is the device of the pool that a share goes to, -1 for none.
func (o *outlook) best(left *pool, r *model.DeviceRequest) int {
	best, least := -1, int64(0)
	for d := range left.devices {
		if left.free[d] < r.Share || !r.Admits(&left.devices[d]) || left.sameBefore(d) {
			continue
		}
		left.free[d] -= r.Share
		cost := o.mix.potentialOf(left) + o.price(left, d)*r.Share
		left.free[d] += r.Share
		if best < 0 || cost < least || cost == least && left.free[d] < left.free[best] {
			best, least = d, cost
		}
	}
	return best
}
