package interpodaffinity

import "github.com/berth-project/berth/plugins/helper"

// DefaultHardPodAffinityWeight is the default of [Args].HardPodAffinityWeight.
const DefaultHardPodAffinityWeight = 1

// maxHardPodAffinityWeight is the largest weight that is allowed.
const maxHardPodAffinityWeight = 100

// Name is the plugin's name.
const Name = "InterPodAffinity"

// Args are the plugin's arguments.
type Args struct {
	// HardPodAffinityWeight is what the required affinity of a workload on a
	// node counts in the score of an incoming workload that it selects: as
	// much as a preference of this weight. 0 to 100; 0 is not to count it.
	// Default: nil means [DefaultHardPodAffinityWeight].
	HardPodAffinityWeight *int32
	// IgnorePreferredTermsOfExistingPods leaves workloads without preferred
	// terms of their own unscored. What the workloads on nodes prefer, and
	// require, then only counts for workloads that have preferred terms. It
	// saves time where many workloads have preferred terms. Default: false.
	IgnorePreferredTermsOfExistingPods bool
}

// WithDefaults returns the arguments with the defaults of kube-scheduler,
// apis/config/v1/defaults.go, 1.37.1, in place of what is not set.
func (a Args) WithDefaults() Args {
	if a.HardPodAffinityWeight == nil {
		a.HardPodAffinityWeight = new(int32(DefaultHardPodAffinityWeight))
	}
	return a
}

// Validate returns a [*model.ValidationError] where a weight is out of range
// (kube-scheduler apis/config/validation/validation_pluginargs.go
// ValidateInterPodAffinityArgs, 1.37.1).
func (a Args) Validate() error {
	var p helper.Problems
	if w := a.HardPodAffinityWeight; w != nil && (*w < 0 || *w > maxHardPodAffinityWeight) {
		p.Addf("hardPodAffinityWeight", "%d is not in [0, %d]", *w, maxHardPodAffinityWeight)
	}
	return p.Err(Name)
}
