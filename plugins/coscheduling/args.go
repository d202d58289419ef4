package coscheduling

import (
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "Coscheduling"

// Args are the arguments of Coscheduling.
type Args struct {
	// PermitTimeout is how long a member holds its node and waits for the
	// others, where its group does not say it ([model.Group].PermitTimeout). It must
	// be less than extpoints.MaxPermitTimeout. Default: 60 s.
	PermitTimeout time.Duration
	// Backoff is for how long after a failed try the members of a gang are
	// rejected without being tried. It counts from the cycle of the member that
	// failed and must not be longer than PermitTimeout: then a wait that runs
	// out is no reason to stand back. Nor is it longer than that of the group.
	// Default: 10 s, or PermitTimeout if that is shorter.
	Backoff time.Duration
	// RejectPercentage is how many of MinCount members may lack a node, in percent, while the
	// others keep theirs and wait although one of them has found none; if more do, all that wait
	// are rejected. 0 to 100; 0: they always are.
	RejectPercentage int32
}

// The defaults.
const (
	defaultPermitTimeout = time.Minute
	defaultBackoff       = 10 * time.Second
)

// WithDefaults returns the arguments with the defaults in place of what is not
// set.
func (a Args) WithDefaults() Args {
	if a.PermitTimeout == 0 {
		a.PermitTimeout = defaultPermitTimeout
	}
	if a.Backoff == 0 {
		a.Backoff = min(defaultBackoff, a.PermitTimeout)
	}
	return a
}

// Validate lists everything that is wrong with the arguments in one error.
func (a Args) Validate() error {
	a = a.WithDefaults()
	var p helper.Problems
	if a.PermitTimeout < 0 || a.PermitTimeout >= extpoints.MaxPermitTimeout {
		p.Addf("permitTimeout", "%v is not between 0 and %v", a.PermitTimeout, extpoints.MaxPermitTimeout)
	}
	if a.Backoff < 0 || a.Backoff > a.PermitTimeout {
		p.Addf("backoff", "%v is not between 0 and permitTimeout, %v", a.Backoff, a.PermitTimeout)
	}
	if a.RejectPercentage < 0 || a.RejectPercentage > 100 {
		p.Addf("rejectPercentage", "%d is not between 0 and 100", a.RejectPercentage)
	}
	return p.Err(Name)
}
