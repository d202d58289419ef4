package peaks

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "Peaks"

// PowerModel is how the power that a node draws depends on how busy its CPU is:
// K1*e^(K2*percent) in watts, beside what does not depend on it.
type PowerModel struct {
	K1, K2 float64 // finite
}

// Args are the arguments.
type Args struct {
	// Models are those of the nodes, by name.
	Models map[string]PowerModel
	// MaxAge is how old a measurement may be. Default: [helper.DefaultLoadAge].
	MaxAge time.Duration
}

// Validate lists everything that is wrong with the arguments in one error.
func (a Args) Validate() error {
	var p helper.Problems
	for _, name := range slices.Sorted(maps.Keys(a.Models)) {
		if m := a.Models[name]; math.IsNaN(m.K1-m.K1) || math.IsNaN(m.K2-m.K2) {
			p.Addf("models", "%+v of %q is not finite", m, name)
		}
	}
	helper.CheckLoadAge(&p, a.MaxAge)
	return p.Err(Name)
}
