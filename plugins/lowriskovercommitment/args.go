package lowriskovercommitment

import (
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "LowRiskOverCommitment"

// defaultWeight is that of the risk by limits.
const defaultWeight = 0.5

// Args are the arguments.
type Args struct {
	// Smoothing is over how many windows the averages were made from which the standard
	// deviation is: that of the load itself is greater by its root. 1 or more. Default: 5.
	Smoothing int64
	// LimitWeights says how much the risk by usage limits counts, from 0 to 1, by resource:
	// model.CPU and model.Memory. The rest is the risk by measured load. Default: 0.5.
	LimitWeights map[string]float64
	// MaxAge is how old a measurement may be. Default: [helper.DefaultLoadAge].
	MaxAge time.Duration
}

// weight is that of the risk by limits of the resource.
func (a *Args) weight(name string) float64 {
	if w, ok := a.LimitWeights[name]; ok {
		return w
	}
	return defaultWeight
}

func (a Args) withDefaults() Args {
	if a.Smoothing == 0 {
		a.Smoothing = 5
	}
	return a
}

// Validate lists everything that is wrong with the arguments in one error.
func (a Args) Validate() error {
	var p helper.Problems
	if a.Smoothing < 0 {
		p.Addf("smoothing", "%d is negative", a.Smoothing)
	}
	for _, name := range slices.Sorted(maps.Keys(a.LimitWeights)) {
		if name != model.CPU && name != model.Memory {
			p.Addf("limitWeights", "%q is neither %q nor %q", name, model.CPU, model.Memory)
		}
		if w := a.LimitWeights[name]; !(w >= 0 && w <= 1) {
			p.Addf("limitWeights", "the weight %v of %q is not between 0 and 1", w, name)
		}
	}
	helper.CheckLoadAge(&p, a.MaxAge)
	return p.Err(Name)
}
