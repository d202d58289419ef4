package trace

import (
	"cmp"
	"errors"
	"slices"
	"strings"
)

// WholeGPU is the capacity of one GPU, in milli.
const WholeGPU int64 = 1000

// What keeps a trace from being run: percentages of no capacity mean nothing,
// and without demand the arrivals never add up to the target.
var (
	ErrNoCapacity = errors.New("trace: no node has a GPU")
	ErrNoDemand   = errors.New("trace: no pod asks for a GPU")
)

// Node is one machine, empty.
type Node struct {
	Name   string // unique; column sn of the file
	CPU    int64  // milli cores
	Memory int64  // MiB
	GPUs   int    // devices, WholeGPU milli each
	Model  string // of all its GPUs, as a Spec names it
}

// Idle returns the milli left on each GPU of the empty node, in a new slice.
func (n *Node) Idle() []int64 {
	gpus := make([]int64, n.GPUs)
	for i := range gpus {
		gpus[i] = WholeGPU
	}
	return gpus
}

// Shape is what two pods share that the fragmentation measure holds equal:
// everything they ask for but memory.
type Shape struct {
	CPU   int64 // milli cores
	Share int64 // milli of each GPU; WholeGPU for whole ones, 0 for none
	GPUs  int   // devices; 1 where Share is less than a whole GPU
	Spec  Spec  // the models that will do for its GPUs
}

// Demand is what the shape asks of all its GPUs together, in milli.
func (s *Shape) Demand() int64 { return s.Share * int64(s.GPUs) }

// Sharing reports whether the shape asks for a part of one GPU.
func (s *Shape) Sharing() bool { return s.GPUs > 0 && s.Share < WholeGPU }

// Pod is one arrival.
type Pod struct {
	Name   string // unique in the file; an arrival that is repeated has the same
	Memory int64  // MiB
	Shape
}

// Spec names the GPU models that will do, as "A|B|C"; empty means any.
type Spec string

// Accepts reports whether a GPU of the model will do.
func (s Spec) Accepts(model string) bool {
	if s == "" {
		return true
	}
	for name := range strings.SplitSeq(string(s), "|") {
		if name == model {
			return true
		}
	}
	return false
}

// Trace is the input of the experiment. Both lists are sorted by name; the
// protocol draws by index into them, so their order is part of the result.
type Trace struct {
	Nodes []Node // ranks and placements name them by index
	Pods  []Pod  // in order of name, which is not that of arrival: see Arrange
}

// New returns the trace of the nodes and pods, in any order; it sorts copies
// of them. Their values are taken as they are: the readers check them. The
// error is ErrNoCapacity or ErrNoDemand.
func New(nodes []Node, pods []Pod) (*Trace, error) {
	t := &Trace{Nodes: slices.Clone(nodes), Pods: slices.Clone(pods)}
	t.sort()
	if t.Capacity() == 0 {
		return nil, ErrNoCapacity
	}
	if !slices.ContainsFunc(t.Pods, func(p Pod) bool { return p.Demand() > 0 }) {
		return nil, ErrNoDemand
	}
	return t, nil
}

func (t *Trace) sort() {
	slices.SortFunc(t.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(t.Pods, func(a, b Pod) int { return cmp.Compare(a.Name, b.Name) })
}

// Capacity is what all GPUs of the cluster have together, in milli.
func (t *Trace) Capacity() int64 {
	var gpus int64
	for i := range t.Nodes {
		gpus += int64(t.Nodes[i].GPUs)
	}
	return gpus * WholeGPU
}
