package trace

import (
	"fmt"
	"slices"
)

// Policy is one of the six placement policies of the publication, or one of ours,
// by the name it has in the output.
type Policy string

// The policies, in the order of the publication's tables; the last two
// are not in them. Learned is Rollout that is not told the mix of pods.
const (
	Random     Policy = "random"
	DotProd    Policy = "dotprod"
	Clustering Policy = "clustering"
	Packing    Policy = "packing"
	BestFit    Policy = "bestfit"
	FGD        Policy = "fgd"
	Rollout    Policy = "rollout"
	Learned    Policy = "learned"
)

// The figures that the publication's policies and filters are fixed to. The
// largest node is not looked up in the trace: it scales the scores, and a trace
// with other nodes is scored on the same scale.
const (
	LargestNodeCPU int64 = 128000 // milli cores
	LargestNodeGPU int64 = 8000   // milli over all its GPUs
	MaxPodsPerNode       = 1001
)

var titles = map[Policy]string{
	Random:     "Random",
	DotProd:    "DotProd",
	Clustering: "Clustering",
	Packing:    "Packing",
	BestFit:    "BestFit",
	FGD:        "FGD",
	Rollout:    "Rollout",
	Learned:    "Rollout, learned",
}

// Policies returns all policies: the published ones, and ours after them.
func Policies() []Policy { return append(Published(), Rollout, Learned) }

// Published returns the policies of the publication, in the order of its tables.
func Published() []Policy {
	return []Policy{Random, DotProd, Clustering, Packing, BestFit, FGD}
}

// ParsePolicy returns the policy of the name; the error lists those there are.
func ParsePolicy(name string) (Policy, error) {
	if !slices.Contains(Policies(), Policy(name)) {
		return "", fmt.Errorf("trace: no policy %q: there are %v", name, Policies())
	}
	return Policy(name), nil
}

// Title is the name that the publication's tables use.
func (p Policy) Title() string { return titles[p] }
