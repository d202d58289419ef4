package reference

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/berth-project/berth/examples/gpupacking/trace"
	"github.com/berth-project/berth/plugins/helper"
)

// The constants of the policy; see package devicepacking.
const (
	rolloutSequences = 256
	rolloutLength    = 60
	rolloutChoice    = 3
	rolloutChoices   = 128
	rolloutSeed      = 1
	rolloutUnit      = 1 << 20
	rolloutMu        = 6
	rolloutMuUnit    = 1 << 10
	rolloutLeastMu   = rolloutMuUnit / 20
	rolloutMostGrain = 8 * rolloutUnit
	rolloutNu        = 4
)

// rollout prefers the node whose fragments and whose idle GPUs after a rollout grow
// least, at the price of its model. A node has GPUs of one model, so the price makes
// no difference between its GPUs.
type rollout struct {
	nodes   []node
	mix     trace.Typical
	weight  []int64 // of each of mix
	mu      int64
	choices int
	grain   int64
	sample  []*trace.Shape
	known   map[string]int64 // potentials, by all that they depend on
}

func newRollout(t *trace.Trace, nodes []node) *rollout {
	r := &rollout{nodes: nodes, mix: slices.Clone(t.Mix()), known: map[string]int64{}}
	slices.SortFunc(r.mix, func(a, b trace.TypicalPod) int {
		return cmp.Or(cmp.Compare(a.CPU, b.CPU), cmp.Compare(a.Share, b.Share), cmp.Compare(a.GPUs, b.GPUs),
			slices.Compare(modelList(a.Spec), modelList(b.Spec)), cmp.Compare(a.Weight, b.Weight))
	})
	var total, whole, all int64
	for _, p := range r.mix {
		w := max(1, int64(math.Round(p.Weight*rolloutUnit)))
		r.weight = append(r.weight, w)
		total += w
		all += w * p.Demand()
		if p.Share == trace.WholeGPU {
			whole += w * p.Demand()
		}
	}
	part := float64(whole) / float64(all)
	r.mu = rolloutLeastMu + int64(math.Round(rolloutMu*rolloutMuUnit*part))
	choices := int(math.Round(rolloutSequences * float64((1-part)*(1-part))))
	r.choices = min(choices, rolloutChoices)
	r.grain = max(1, int64(math.Round(rolloutMostGrain*float64((1-part)*(1-part)))))
	// The middle of each of the places, along the weights laid end to end.
	places := (rolloutSequences - choices + r.choices) * rolloutLength
	for i := range int64(places) {
		k, end := 0, r.weight[0]
		for (2*i+1)*total >= 2*int64(places)*end {
			k++
			end += r.weight[k]
		}
		r.sample = append(r.sample, &r.mix[k].Shape)
	}
	for i := places - 1; i > 0; i-- {
		k := helper.Draw(rolloutSeed, uint64(i), i+1)
		r.sample[i], r.sample[k] = r.sample[k], r.sample[i]
	}
	return r
}

func modelList(s trace.Spec) []string {
	if s == "" {
		return nil
	}
	return strings.Split(string(s), "|")
}

// score is without the price, which depends on all nodes: normalize adds it.
func (r *rollout) score(n *node, pod *trace.Pod) int64 {
	return r.potential(n) - r.potential(after(n, pod, r.devices(n, pod)))
}

func after(n *node, pod *trace.Pod, devices []int) *node {
	end := &node{model: n.model, cpu: n.cpu - pod.CPU, gpus: slices.Clone(n.gpus)}
	for _, d := range devices {
		end.gpus[d] -= pod.Share
	}
	return end
}

// devices tries every GPU for a share, those with least left first.
func (r *rollout) devices(n *node, pod *trace.Pod) []int {
	if !pod.Sharing() {
		return tightest{}.devices(n, pod)
	}
	best, least := -1, int64(0)
	for _, d := range leastLeft(n, pod) {
		if p := r.potential(after(n, pod, []int{d})); best < 0 || p < least {
			best, least = d, p
		}
	}
	return []int{best}
}

// potential is what will remain idle of the node; it is worked out once for all nodes
// with the same left.
func (r *rollout) potential(n *node) int64 {
	key := fmt.Sprint(n.model, n.cpu, n.gpus)
	if _, ok := r.known[key]; !ok {
		r.known[key] = r.workOut(n)
	}
	return r.known[key]
}

func (r *rollout) workOut(n *node) int64 {
	var lost, idle int64
	for i := range r.mix {
		t := &r.mix[i].Shape
		lost += r.weight[i] * t.Lost(n.model, n.cpu, n.gpus)
	}
	for i := 0; i < len(r.sample); i += rolloutLength {
		end := after(n, &trace.Pod{}, nil)
		atATime := 1
		if i/rolloutLength < r.choices {
			atATime = rolloutChoice
		}
		for k := i; k < i+rolloutLength; k += atATime {
			if pod := bestFitting(end, r.sample[k:k+atATime]); pod != nil {
				end = after(end, pod, tightest{}.devices(end, pod))
			}
		}
		idle += end.idle()
	}
	return lost/rolloutMuUnit*r.mu + idle*rolloutUnit/int64(len(r.sample)/rolloutLength)
}

// bestFitting is the shape that fits and leaves least on the GPU that it takes, those
// without GPUs last; nil for none.
func bestFitting(n *node, offered []*trace.Shape) *trace.Pod {
	var best *trace.Pod
	var least int64
	for _, t := range offered {
		pod := &trace.Pod{Shape: *t}
		if !n.fits(pod) {
			continue
		}
		rest := 2 * trace.WholeGPU
		if pod.GPUs > 0 {
			rest = n.gpus[tightest{}.devices(n, pod)[0]] - pod.Share
		}
		if best == nil || rest < least {
			best, least = pod, rest
		}
	}
	return best
}

// normalize subtracts the prices, rounds, prefers nodes with less left, and gives the best
// node 100.
func (r *rollout) normalize(pod *trace.Pod, candidates []candidate) {
	prices := map[string]int64{}
	for i := range candidates {
		n := &r.nodes[candidates[i].node]
		model := n.model
		if _, ok := prices[model]; !ok {
			prices[model] = r.price(model)
		}
		gain := candidates[i].score - prices[model]*pod.Demand()
		steps := math.Floor(float64(gain+r.grain/2) / float64(r.grain))
		candidates[i].score = int64(steps)*r.grain - min(n.idle(), r.grain-1)
	}
	spread(candidates)
}

// price is what a milli of a model costs: the part of the demand with each list of
// models that has it, for the part of the idle GPUs that the list admits.
func (r *rollout) price(model string) int64 {
	demand := map[string]int64{}     // by list of models
	specs := map[string]trace.Spec{} // one of them
	var all, idle, price int64
	for i := range r.mix {
		t := &r.mix[i].Shape
		all += r.weight[i] * t.Demand()
	}
	for i := range r.mix {
		t := &r.mix[i].Shape
		if t.Spec == "" || t.GPUs == 0 {
			continue
		}
		list := modelList(t.Spec)
		slices.Sort(list)
		key := strings.Join(slices.Compact(list), "|")
		part := float64(r.weight[i]*t.Demand()) / float64(all)
		demand[key] += int64(math.Round(part * rolloutUnit))
		specs[key] = t.Spec
	}
	for i := range r.nodes {
		idle += r.nodes[i].idle()
	}
	for key, part := range demand {
		var left int64
		for i := range r.nodes {
			if specs[key].Accepts(r.nodes[i].model) {
				left += r.nodes[i].idle()
			}
		}
		if specs[key].Accepts(model) && left > idle/10000 {
			price += rolloutNu * int64(math.Round(float64(part)/float64(left)*float64(idle)))
		}
	}
	return price
}
