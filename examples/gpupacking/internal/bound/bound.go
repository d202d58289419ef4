// Package bound proves how much of a cluster no policy can fill, so that what a policy
// leaves idle can be told from what is out of reach.
//
// It relaxes the placement of pods to a linear program: node by node becomes class by class
// (nodes of the same model, size and number of GPUs), and whole pods become fractions. What
// is kept are the capacities of each class in CPU, memory and GPUs, and, because a
// GPU cannot be put together from rests, cuts by dual feasible functions (Fekete and
// Schepers, "New Classes of Fast Lower Bounds for Bin Packing Problems", 2001): a share above
// a half takes a whole GPU, one above a third half of one, and so on.
//
// The program is not solved. Any prices of the capacities give a bound, by weak
// duality, so subgradient steps look for good ones and the best value is a proof, however far
// it is from the optimum:
//
//	sum of price * capacity + sum over pods of the most that the demand of
//	the pod exceeds its costs by, over the classes that it may go to, or nothing
//
// Pods without GPUs are held to be placed, as all policies do place them: each costs what
// it takes where that is cheapest. A run in which such a pod was dropped is not bounded.
package bound

import (
	"math"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// The constraints of a class: its capacities, then the cuts.
const (
	cpu = iota
	memory
	gpu
	firstCut
	cuts        = 10
	constraints = firstCut + cuts
)

// class is the nodes that are alike.
type class struct {
	node     trace.Node // one of them, without its name
	capacity [constraints]float64
}

// kind is the pods that are alike, and what each would take.
type kind struct {
	pod     trace.Pod // one of them, without its name
	count   float64
	demand  float64
	takes   [constraints]float64
	classes []int // that it may go to
}

// program is the linear program. Capacities, and what pods take, are parts of what all
// classes have together.
type program struct {
	classes []class
	kinds   []kind
	total   float64 // GPU capacity, in milli
}

// Arrived are the pods of an order that have arrived when the demand is full, which is the
// last moment that the column trace.Full looks at.
func Arrived(t *trace.Trace, seed int64) []*trace.Pod {
	pods := t.Arrange(seed).Pods
	var demand int64
	for i, p := range pods {
		demand += p.Demand()
		if 200*demand > (2*trace.Full+1)*t.Capacity() {
			return pods[:i]
		}
	}
	return pods
}

// Percent returns a bound of the part of the GPU capacity that any placement of the pods
// allocates, in percent, after so many steps. More steps make it tighter.
func Percent(t *trace.Trace, pods []*trace.Pod, steps int) float64 {
	p := newProgram(t, pods)
	return 100 * p.minimize(steps) / p.total
}

func newProgram(t *trace.Trace, pods []*trace.Pod) *program {
	p := &program{total: float64(t.Capacity())}
	byNode := map[trace.Node]int{}
	for _, n := range t.Nodes {
		n.Name = ""
		i, ok := byNode[n]
		if !ok {
			i = len(p.classes)
			byNode[n] = i
			p.classes = append(p.classes, class{node: n})
		}
		c := &p.classes[i].capacity
		c[cpu] += float64(n.CPU)
		c[memory] += float64(n.Memory)
		for k := gpu; k < constraints; k++ {
			c[k] += float64(n.GPUs)
		}
	}
	byPod := map[trace.Pod]int{}
	for _, pod := range pods {
		alike := *pod
		alike.Name = ""
		i, ok := byPod[alike]
		if !ok {
			i = len(p.kinds)
			byPod[alike] = i
			p.kinds = append(p.kinds, p.kindOf(alike))
		}
		p.kinds[i].count++
	}
	p.scale()
	return p
}

// scale makes amounts parts of what all classes have together.
func (p *program) scale() {
	for c := range constraints {
		var all float64
		for i := range p.classes {
			all += p.classes[i].capacity[c]
		}
		if all == 0 {
			continue // nobody has any, and no pod that takes some may go anywhere
		}
		for i := range p.classes {
			p.classes[i].capacity[c] /= all
		}
		for i := range p.kinds {
			p.kinds[i].takes[c] /= all
		}
	}
}

func (p *program) kindOf(pod trace.Pod) kind {
	k := kind{pod: pod, demand: float64(pod.Demand())}
	k.takes[cpu], k.takes[memory] = float64(pod.CPU), float64(pod.Memory)
	share := float64(pod.Share) / float64(trace.WholeGPU)
	k.takes[gpu] = share * float64(pod.GPUs)
	for cut := 1; cut <= cuts; cut++ {
		k.takes[firstCut+cut-1] = dualFeasible(cut, pod.Share) * float64(pod.GPUs)
	}
	for i := range p.classes {
		n := &p.classes[i].node
		if n.CPU >= pod.CPU && n.Memory >= pod.Memory && n.GPUs >= pod.GPUs && (pod.GPUs == 0 || pod.Spec.Accepts(n.Model)) {
			k.classes = append(k.classes, i)
		}
	}
	return k
}

// dualFeasible is u(k) of Fekete and Schepers: whatever shares fit on a GPU together, their
// values add up to 1 at most.
func dualFeasible(k int, share int64) float64 {
	times := int64(k+1) * share
	if times%trace.WholeGPU == 0 {
		return float64(share) / float64(trace.WholeGPU)
	}
	return float64(times/trace.WholeGPU) / float64(k)
}

// prices are by class and constraint, for as much as all classes have together: so a step
// moves what is large and what is small alike.
type prices [][constraints]float64

// minimize returns the least bound that it finds.
//
// Where several classes cost a pod almost the same, which of them is cheapest changes with each
// step, and the slope tells little. So the slope is that of a smooth bound, in which a pod is
// divided over classes by how little they cost (Nesterov, "Smooth Minimization of Non-Smooth
// Functions", 2005), ever more sharply. Steps are scaled for each price by the slopes that
// were seen (Duchi, Hazan and Singer, "Adaptive Subgradient Methods", 2011).
func (p *program) minimize(steps int) float64 {
	at, slope, squares := make(prices, len(p.classes)), make(prices, len(p.classes)), make(prices, len(p.classes))
	for i := range at {
		at[i][gpu] = p.total // a GPU costs what it is worth: 100 %
	}
	best := math.Inf(1)
	for n := range steps {
		done := float64(n) / float64(steps)
		best = min(best, p.bound(at, slope, firstSoftness*math.Pow(lastSoftness/firstSoftness, done)))
		length := p.total * firstStep * math.Pow(lastStep/firstStep, done)
		for i := range at {
			for c := range constraints {
				g := slope[i][c]
				if squares[i][c] = memorySquares*squares[i][c] + (1-memorySquares)*g*g; squares[i][c] > 0 {
					at[i][c] = max(0, at[i][c]-length*g/math.Sqrt(squares[i][c]))
				}
			}
		}
	}
	return best
}

// The first and the last step, as a part of all GPUs; softness, the difference of costs, in
// milli, at which a class gets a third of what the cheaper one does; and how much of
// the slopes that were seen is kept.
const (
	firstStep     = 1e-2
	lastStep      = 1e-5
	firstSoftness = 100.0
	lastSoftness  = 1.0
	memorySquares = 0.99
)

// bound is the bound by the prices. It sets the slope: how the bound, softened, grows with
// each.
func (p *program) bound(at, slope prices, softness float64) float64 {
	var sum float64
	for i := range p.classes {
		for c := range constraints {
			sum += at[i][c] * p.classes[i].capacity[c]
			slope[i][c] = p.classes[i].capacity[c]
		}
	}
	costs := make([]float64, len(p.classes))
	for i := range p.kinds {
		k := &p.kinds[i]
		if least := p.costs(k, at, costs); len(k.classes) > 0 {
			sum += k.count * p.divide(k, slope, costs, least, softness)
		}
	}
	return sum
}

// costs sets what the pod costs in each of its classes, and returns the least.
func (p *program) costs(k *kind, at prices, costs []float64) float64 {
	least := math.Inf(1)
	for n, i := range k.classes {
		costs[n] = 0
		for c := range constraints {
			costs[n] += at[i][c] * k.takes[c]
		}
		least = min(least, costs[n])
	}
	return least
}

// divide divides the pods of a kind over their classes, and over not being placed, and
// returns what one gains.
func (p *program) divide(k *kind, slope prices, costs []float64, least, softness float64) float64 {
	gain := k.demand - least
	var all float64
	if k.pod.GPUs > 0 { // it need not be placed, which gains nothing
		all = math.Exp(-max(gain, 0) / softness)
		least = min(least, k.demand)
		gain = max(gain, 0)
	}
	parts := make([]float64, len(k.classes))
	for n := range k.classes {
		parts[n] = math.Exp((least - costs[n]) / softness)
		all += parts[n]
	}
	for n, i := range k.classes {
		for c := range constraints {
			slope[i][c] -= k.count * k.takes[c] * parts[n] / all
		}
	}
	return gain
}
