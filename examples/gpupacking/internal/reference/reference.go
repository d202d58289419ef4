// Package reference runs the GPU packing experiment without a scheduler: flat
// slices, one loop over the nodes for each pod, the policies written down as the
// publication has them, and Rollout as its package comment has it. It is the twin that the engine's decisions are
// compared with, so it is kept plain, and nothing but tests should need it.
//
// Scores are integers and higher ones win. Where the arithmetic has fractions
// it is done in float64 and truncated toward zero at the end; the order of
// operations is part of the rule.
package reference

import (
	"fmt"
	"math/rand"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// Nowhere is the node of a pod that was dropped.
const Nowhere = -1

// Placement is where a pod went.
type Placement struct {
	Node    int   // index into Trace.Nodes, or Nowhere
	Devices []int // indexes of the node's GPUs, ascending
}

// Result is a run, decision by decision.
type Result struct {
	trace.Run
	Placements []Placement // by arrival
}

// Run places the pods of the trace in the order of the seed, by the policy. All
// policies but Random are functions of trace and seed; so is Random here, but
// its generator is this package's choice. An unknown policy panics.
func Run(t *trace.Trace, policy trace.Policy, seed int64) Result {
	return newSimulation(t, policy, seed).run(policy, seed)
}

// node is one machine with what is left of it.
type node struct {
	model  string
	cpu    int64   // milli cores
	memory int64   // MiB
	gpus   []int64 // milli, by device
	pods   int
	tags   map[string]bool // kinds of GPU pods it hosts; see tag
	rank   int
}

type simulation struct {
	trace  *trace.Trace
	order  trace.Order
	nodes  []node
	policy policy
	memory memory
}

func newSimulation(t *trace.Trace, name trace.Policy, seed int64) *simulation {
	s := &simulation{trace: t, order: t.Arrange(seed), memory: memory{}}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		s.nodes = append(s.nodes, node{
			model:  n.Model,
			cpu:    n.CPU,
			memory: n.Memory,
			gpus:   n.Idle(),
			tags:   map[string]bool{},
			rank:   s.order.Ranks[i],
		})
	}
	s.policy = newPolicy(t, s.nodes, name, seed)
	return s
}

func newPolicy(t *trace.Trace, nodes []node, name trace.Policy, seed int64) policy {
	switch name {
	case trace.Random:
		return &random{rand.New(rand.NewSource(seed))}
	case trace.DotProd:
		return dotProd{}
	case trace.Clustering:
		return clustering{}
	case trace.Packing:
		return packing{}
	case trace.BestFit:
		return bestFit{}
	case trace.FGD:
		return fgd{t.Typical()}
	case trace.Rollout:
		return newRollout(t, nodes)
	default:
		panic(fmt.Sprintf("reference: no policy %q", name))
	}
}

func (s *simulation) run(policy trace.Policy, seed int64) Result {
	recorder := trace.NewRecorder(s.trace)
	placements := make([]Placement, len(s.order.Pods))
	for i, pod := range s.order.Pods {
		p := s.place(pod)
		placements[i] = p
		if p.Node == Nowhere {
			recorder.Dropped(pod)
			continue
		}
		n := &s.nodes[p.Node]
		recorder.Placed(pod, p.Node, n.cpu, n.gpus)
	}
	return Result{Run: recorder.Run(policy, seed), Placements: placements}
}

// place decides on one pod and takes what it gets from the node.
func (s *simulation) place(pod *trace.Pod) Placement {
	candidates := s.feasible(pod)
	s.policy.normalize(pod, candidates)
	best := s.best(candidates)
	if best == nil {
		return Placement{Node: Nowhere}
	}
	n := &s.nodes[best.node]
	devices := s.policy.devices(n, pod)
	n.take(pod, devices)
	s.memory.forget(best.node)
	return Placement{Node: best.node, Devices: devices}
}

// candidate is a node that the pod fits on.
type candidate struct {
	node  int
	score int64
}

// feasible returns the nodes the pod fits on, scored, in order of index.
func (s *simulation) feasible(pod *trace.Pod) []candidate {
	known := s.memory.of(pod, len(s.nodes))
	candidates := make([]candidate, 0, len(s.nodes))
	for i := range s.nodes {
		v := &known[i]
		if !v.valid {
			n := &s.nodes[i]
			*v = verdict{valid: true, fits: n.fits(pod)}
			if v.fits {
				v.score = s.policy.score(n, pod)
			}
		}
		if v.fits {
			candidates = append(candidates, candidate{node: i, score: v.score})
		}
	}
	return candidates
}

// best is the candidate of the highest score, and of the smallest rank among
// several; nil where there is none.
func (s *simulation) best(candidates []candidate) *candidate {
	var best *candidate
	for i := range candidates {
		c := &candidates[i]
		if best == nil || c.score > best.score ||
			c.score == best.score && s.nodes[c.node].rank < s.nodes[best.node].rank {
			best = c
		}
	}
	return best
}

// fits is the filters: one after the other, all must pass.
func (n *node) fits(pod *trace.Pod) bool {
	return n.cpu >= pod.CPU &&
		n.memory >= pod.Memory &&
		n.pods+1 <= trace.MaxPodsPerNode &&
		(pod.GPUs == 0 || pod.Spec.Accepts(n.model)) &&
		len(n.fitting(pod)) >= pod.GPUs
}

// fitting are the devices with room for the pod's share, ascending.
func (n *node) fitting(pod *trace.Pod) []int {
	var devices []int
	for i, left := range n.gpus {
		if left >= pod.Share {
			devices = append(devices, i)
		}
	}
	return devices
}

func (n *node) take(pod *trace.Pod, devices []int) {
	n.cpu -= pod.CPU
	n.memory -= pod.Memory
	n.pods++
	for _, d := range devices {
		n.gpus[d] -= pod.Share
	}
	if pod.GPUs > 0 {
		n.tags[tag(pod)] = true
	}
}

// idle is the milli left over all devices.
func (n *node) idle() int64 {
	var sum int64
	for _, left := range n.gpus {
		sum += left
	}
	return sum
}
