package reference

import (
	"fmt"
	"math"
	"math/rand"
	"slices"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// policy is how nodes are compared and which devices are taken. score and
// devices are only asked of a node that the pod fits on.
type policy interface {
	score(n *node, pod *trace.Pod) int64
	// normalize may change the scores of the pod in view of all of them.
	normalize(pod *trace.Pod, candidates []candidate)
	devices(n *node, pod *trace.Pod) []int
}

// unnormalized is for policies whose scores stand as they are.
type unnormalized struct{}

func (unnormalized) normalize(*trace.Pod, []candidate) {}

// tightest is the devices most policies take: whole GPUs from the lowest index,
// a share from the GPU with least left.
type tightest struct{}

func (tightest) devices(n *node, pod *trace.Pod) []int {
	if pod.Sharing() {
		return leastLeft(n, pod)[:1]
	}
	return n.fitting(pod)[:pod.GPUs]
}

// leastLeft are the fitting devices, those with less left first, and of equal
// ones the lower index.
func leastLeft(n *node, pod *trace.Pod) []int {
	devices := n.fitting(pod)
	slices.SortStableFunc(devices, func(a, b int) int { return int(n.gpus[a] - n.gpus[b]) })
	return devices
}

// random draws the node, and the device of a share.
type random struct{ *rand.Rand }

func (*random) score(*node, *trace.Pod) int64 { return 0 }

func (r *random) normalize(_ *trace.Pod, candidates []candidate) {
	if len(candidates) > 0 {
		candidates[r.Intn(len(candidates))].score = 100
	}
}

func (r *random) devices(n *node, pod *trace.Pod) []int {
	if pod.Sharing() {
		fitting := n.fitting(pod)
		return []int{fitting[r.Intn(len(fitting))]}
	}
	return tightest{}.devices(n, pod)
}

// dotProd prefers nodes on which little of what the pod wants much is left.
type dotProd struct {
	unnormalized
	tightest
}

func (dotProd) score(n *node, pod *trace.Pod) int64 {
	const cpu, gpu = trace.LargestNodeCPU, trace.LargestNodeGPU
	product := float64(n.cpu*pod.CPU)/float64(cpu*cpu) + float64(n.idle()*pod.Demand())/float64(gpu*gpu)
	return int64(100 * (1 - product/2))
}

// clustering keeps pods of one kind together.
type clustering struct {
	unnormalized
	tightest
}

// tag is the kind of a pod that has GPUs: a share of one, or a number of whole
// ones.
func tag(pod *trace.Pod) string {
	if pod.Sharing() {
		return "share"
	}
	return fmt.Sprintf("%d-gpu", pod.GPUs)
}

func (clustering) score(n *node, pod *trace.Pod) int64 {
	if pod.GPUs == 0 {
		return 0
	}
	base := 25 * (trace.LargestNodeGPU - n.idle()) / trace.LargestNodeGPU
	switch {
	case n.tags[tag(pod)] && len(n.tags) == 1:
		return base + 75
	case n.tags[tag(pod)]:
		return base + 50
	case len(n.tags) == 0:
		return base + 25
	default:
		return base
	}
}

// packing prefers shared GPUs to free ones, and used nodes to unused ones.
type packing struct {
	unnormalized
	tightest
}

func (packing) score(n *node, pod *trace.Pod) int64 {
	if pod.GPUs == 0 {
		return 0
	}
	free := 0
	for _, left := range n.gpus {
		if left == trace.WholeGPU {
			free++
		}
	}
	if free == len(n.gpus) {
		return int64(max(33-free, free))
	}
	unused, left := 0, int64(0)
	for _, d := range leastLeft(n, pod)[:pod.GPUs] {
		if n.gpus[d] == trace.WholeGPU {
			unused++
		}
		left += n.gpus[d] * 100 / trace.WholeGPU
	}
	if unused > 0 {
		return int64(max(50-unused, 33))
	}
	return max(100-left/10, 50)
}

// bestFit prefers nodes with little left after the pod.
type bestFit struct{ tightest }

func (bestFit) score(n *node, pod *trace.Pod) int64 {
	cpu := 0.5 * float64(n.cpu-pod.CPU) / float64(trace.LargestNodeCPU)
	gpu := 0.5 * float64(n.idle()-pod.Demand()) / float64(trace.LargestNodeGPU)
	return int64(100 * (1 - cpu - gpu))
}

func (bestFit) normalize(_ *trace.Pod, candidates []candidate) { spread(candidates) }

// spread spreads the scores over 0 to 100. Where all are the same they stay
// so: only the rank can decide.
func spread(candidates []candidate) {
	if len(candidates) == 0 {
		return
	}
	lowest, highest := candidates[0].score, candidates[0].score
	for _, c := range candidates {
		lowest, highest = min(lowest, c.score), max(highest, c.score)
	}
	if lowest == highest {
		return
	}
	for i := range candidates {
		candidates[i].score = (candidates[i].score - lowest) * 100 / (highest - lowest)
	}
}

// fgd, fragmentation gradient descent, prefers the node whose idle GPUs lose
// least of their use for typical pods.
type fgd struct{ typical trace.Typical }

func (fgd) normalize(*trace.Pod, []candidate) {}

func (p fgd) score(n *node, pod *trace.Pod) int64 {
	score, _ := p.choose(n, pod)
	return score
}

func (p fgd) devices(n *node, pod *trace.Pod) []int {
	_, devices := p.choose(n, pod)
	return devices
}

// choose tries every device for a share and takes the first of the best score.
// It is the truncated score that is compared: a device that is better by less
// than one point does not replace an earlier one.
func (p fgd) choose(n *node, pod *trace.Pod) (int64, []int) {
	if !pod.Sharing() {
		devices := tightest{}.devices(n, pod)
		return p.scoreWith(n, pod, devices), devices
	}
	best, device := int64(-1), 0
	for _, d := range n.fitting(pod) {
		if s := p.scoreWith(n, pod, []int{d}); s > best {
			best, device = s, d
		}
	}
	return best, []int{device}
}

// scoreWith is the score of the node if the pod takes these devices.
func (p fgd) scoreWith(n *node, pod *trace.Pod, devices []int) int64 {
	after := slices.Clone(n.gpus)
	for _, d := range devices {
		after[d] -= pod.Share
	}
	gain := p.typical.Fragment(n.model, n.cpu, n.gpus) - p.typical.Fragment(n.model, n.cpu-pod.CPU, after)
	return int64(100 * sigmoid(gain/1000))
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
