package targetloadpacking

import (
	"math"
	"time"

	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "TargetLoadPacking"

// Args are the arguments.
type Args struct {
	// Target is the load of a node's CPU that is best, in percent: 1 to 100. Default: 40.
	Target int64
	// Multiplier is what the CPU request of a workload without a usage limit is multiplied
	// by to predict what it uses; 0 or more. Default: 1.5.
	Multiplier *float64
	// DefaultRequest is what a workload is predicted to use that has neither, in
	// milli-CPU; 0 or more. Default: 1000.
	DefaultRequest *int64
	// MaxAge is how old a measurement may be. Default: [helper.DefaultLoadAge].
	MaxAge time.Duration
}

func (a Args) withDefaults() Args {
	if a.Target == 0 {
		a.Target = 40
	}
	if a.Multiplier == nil {
		a.Multiplier = new(1.5)
	}
	if a.DefaultRequest == nil {
		a.DefaultRequest = new(int64(1000))
	}
	return a
}

// Validate lists everything that is wrong with the arguments in one error.
func (a Args) Validate() error {
	var p helper.Problems
	if a.Target < 0 || a.Target > 100 {
		p.Addf("target", "%d is not between 1 and 100; 0 is the default", a.Target)
	}
	if m := a.Multiplier; m != nil && !(*m >= 0 && *m <= math.MaxFloat64) {
		p.Addf("multiplier", "%v is not a finite number from 0 on", *m)
	}
	if d := a.DefaultRequest; d != nil && *d < 0 {
		p.Addf("defaultRequest", "%d is negative", *d)
	}
	helper.CheckLoadAge(&p, a.MaxAge)
	return p.Err(Name)
}
