package trace

import (
	"fmt"
	"math/rand"
)

// A generated trace draws from these. Sizes and their frequency resemble those
// of GPU clusters: mostly shares and single GPUs, few large pods. CPU is scarce beside
// GPUs, and shares fit together in some ways only, so that policies differ.
var (
	generatedModels = []string{"A", "B", "C"}
	generatedGPUs   = []int{1, 2, 2, 4, 8}
	generatedShapes = []Shape{
		{CPU: 4000, Share: 0, GPUs: 0},
		{CPU: 2000, Share: 300, GPUs: 1},
		{CPU: 4000, Share: 450, GPUs: 1},
		{CPU: 6000, Share: 700, GPUs: 1},
		{CPU: 8000, Share: WholeGPU, GPUs: 1},
		{CPU: 8000, Share: WholeGPU, GPUs: 1, Spec: "A|C"},
		{CPU: 16000, Share: WholeGPU, GPUs: 2},
		{CPU: 32000, Share: WholeGPU, GPUs: 4},
	}
)

// Generate makes a trace up, the same one for the same arguments: for demos and
// for tests that have no data. It needs at least one node and one pod, and
// gives every kind of pod where there are enough of them.
func Generate(seed int64, nodes, pods int) *Trace {
	r := rand.New(rand.NewSource(seed))
	t := &Trace{Nodes: make([]Node, nodes), Pods: make([]Pod, pods)}
	for i := range t.Nodes {
		gpus := generatedGPUs[r.Intn(len(generatedGPUs))]
		t.Nodes[i] = Node{
			Name:   fmt.Sprintf("node-%05d", i),
			CPU:    int64(9000 * gpus),
			Memory: int64(49152 * gpus),
			GPUs:   gpus,
			Model:  generatedModels[r.Intn(len(generatedModels))],
		}
	}
	for i := range t.Pods {
		shape := generatedShapes[r.Intn(len(generatedShapes))]
		t.Pods[i] = Pod{Name: fmt.Sprintf("pod-%05d", i), Memory: 4 * shape.CPU, Shape: shape}
	}
	t.Pods[0].Shape = generatedShapes[1] // some demand in the smallest trace, too
	t.sort()
	return t
}
