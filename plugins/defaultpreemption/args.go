package defaultpreemption

import "github.com/berth-project/berth/plugins/helper"

// TieBreak chooses among nodes that are equally good to make room on.
type TieBreak string

// The tie-breakers.
const (
	// FirstNode takes the first in visiting order.
	FirstNode TieBreak = "First"
	// RandomNode takes one of them by the seed of the cycle, each with the same
	// chance.
	RandomNode TieBreak = "Random"
)

// Defaults of [Args]: kube-scheduler's, apis/config/v1/defaults.go, 1.37.1.
const (
	DefaultMinCandidateNodesPercentage int32 = 10
	DefaultMinCandidateNodesAbsolute   int32 = 100
)

// Name is the plugin's name.
const Name = "DefaultPreemption"

// Args are the arguments of the plugin.
type Args struct {
	// MinCandidateNodesPercentage and MinCandidateNodesAbsolute say when the
	// search for candidates may end: when there are as many as this percentage
	// of the nodes that could be candidates, or as the absolute number,
	// whichever is more, and no budget forbids at least one of them. 0 to 100,
	// and from 0; not both 0. Default: nil, for
	// DefaultMinCandidateNodesPercentage and DefaultMinCandidateNodesAbsolute.
	MinCandidateNodesPercentage *int32
	MinCandidateNodesAbsolute   *int32 // in nodes
	// TieBreak chooses among equally good nodes. Default: FirstNode.
	TieBreak TieBreak
	// Synchronous makes the engine schedule nothing else until the evictions
	// have been accepted, or refused; one that the orchestrator neither accepts
	// nor refuses holds up everything. Default: false, only the workload that they make room
	// for waits, held back by PreEnqueue.
	Synchronous bool
}

// WithDefaults returns a copy in which fields that are not set have their
// defaults.
func (a Args) WithDefaults() Args {
	if a.MinCandidateNodesPercentage == nil {
		percentage := DefaultMinCandidateNodesPercentage
		a.MinCandidateNodesPercentage = &percentage
	}
	if a.MinCandidateNodesAbsolute == nil {
		absolute := DefaultMinCandidateNodesAbsolute
		a.MinCandidateNodesAbsolute = &absolute
	}
	if a.TieBreak == "" {
		a.TieBreak = FirstNode
	}
	return a
}

// Validate returns an error that names everything that is wrong, of arguments
// that have their defaults.
//
// Rules: kube-scheduler apis/config/validation/validation_pluginargs.go
// ValidateDefaultPreemptionArgs, 1.37.1.
func (a Args) Validate() error {
	var p helper.Problems
	percentage, absolute := *a.MinCandidateNodesPercentage, *a.MinCandidateNodesAbsolute
	if percentage < 0 || percentage > 100 {
		p.Addf("minCandidateNodesPercentage", "%d is not in [0, 100]", percentage)
	}
	if absolute < 0 {
		p.Addf("minCandidateNodesAbsolute", "%d is negative", absolute)
	}
	if percentage == 0 && absolute == 0 {
		p.Addf("minCandidateNodesPercentage", "is 0, and so is minCandidateNodesAbsolute: one must be above")
		p.Addf("minCandidateNodesAbsolute", "is 0, and so is minCandidateNodesPercentage: one must be above")
	}
	if a.TieBreak != FirstNode && a.TieBreak != RandomNode {
		p.Addf("tieBreak", "%q is none of %s, %s", a.TieBreak, FirstNode, RandomNode)
	}
	return p.Err(Name)
}

// wanted is how many candidates out of n are looked for.
func (a *Args) wanted(n int) int {
	return min(max(n*int(*a.MinCandidateNodesPercentage)/100, int(*a.MinCandidateNodesAbsolute)), n)
}
