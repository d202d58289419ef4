package loadvariationriskbalancing

import (
	"math"
	"time"

	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "LoadVariationRiskBalancing"

// Args are the arguments.
type Args struct {
	// Margin is what the standard deviation is multiplied by; 0 or more. Default: 1.
	Margin *float64
	// Sensitivity is the root that is taken of the standard deviation, as a part of the whole:
	// the greater, the more small ones count. With 0 only one of the whole counts. 0 or more.
	// Default: 1.
	Sensitivity *float64
	// MaxAge is how old a measurement may be. Default: [helper.DefaultLoadAge].
	MaxAge time.Duration
}

func (a Args) withDefaults() Args {
	if a.Margin == nil {
		a.Margin = new(1.0)
	}
	if a.Sensitivity == nil {
		a.Sensitivity = new(1.0)
	}
	return a
}

// Validate lists everything that is wrong with the arguments in one error.
func (a Args) Validate() error {
	var p helper.Problems
	check := func(field string, value *float64) {
		if value != nil && !(*value >= 0 && *value <= math.MaxFloat64) {
			p.Addf(field, "%v is not a finite number from 0 on", *value)
		}
	}
	check("margin", a.Margin)
	check("sensitivity", a.Sensitivity)
	helper.CheckLoadAge(&p, a.MaxAge)
	return p.Err(Name)
}
