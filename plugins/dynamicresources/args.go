package dynamicresources

import (
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
	"github.com/berth-project/berth/plugins/helper"
)

// DefaultBindingTimeout is the default of [Args].BindingTimeout
// (kube-scheduler apis/config/types.go, 1.37.1).
const DefaultBindingTimeout = 10 * time.Minute

// Name is the plugin's name.
const Name = "DynamicResources"

// Args are the plugin's arguments.
type Args struct {
	// BindingTimeout is how long the binding conditions of devices may take to
	// become true, from when the devices were given. At least a second; 0 is
	// DefaultBindingTimeout.
	BindingTimeout time.Duration
	// MaxSteps and Evaluator are for the allocator; see [allocator.Options].
	MaxSteps  int64
	Evaluator allocator.Evaluator // nil: every expression is an error
	// Allocator, where not nil, takes the place of [allocator.Structured];
	// MaxSteps and Evaluator must not be set then.
	Allocator allocator.Allocator
}

// WithDefaults returns the arguments with the defaults in place of what is not
// set, as they are with [extpoints.Improved].
func (a Args) WithDefaults() Args { return a.withDefaults(extpoints.Improved) }

func (a Args) withDefaults(compat extpoints.Compat) Args {
	if a.BindingTimeout == 0 {
		a.BindingTimeout = DefaultBindingTimeout
	}
	if a.Allocator == nil {
		a.Allocator = allocator.New(allocator.Options{Evaluator: a.Evaluator, MaxSteps: a.MaxSteps, Compat: compat})
	}
	return a
}

// Validate lists everything that is wrong with the arguments in one
// [*model.ValidationError]. (kube-scheduler apis/config/validation/
// validation_pluginargs.go ValidateDynamicResourcesArgs, 1.37.1.)
func (a Args) Validate() error {
	var p helper.Problems
	if a.BindingTimeout != 0 && a.BindingTimeout < time.Second {
		p.Addf("bindingTimeout", "%v is less than a second", a.BindingTimeout)
	}
	if a.MaxSteps < 0 {
		p.Addf("maxSteps", "%d is less than 0", a.MaxSteps)
	}
	if a.Allocator != nil && a.MaxSteps != 0 {
		p.Addf("maxSteps", "is for the allocator that is replaced")
	}
	if a.Allocator != nil && a.Evaluator != nil {
		p.Addf("evaluator", "is for the allocator that is replaced")
	}
	return p.Err(Name)
}
