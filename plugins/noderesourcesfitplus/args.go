package noderesourcesfitplus

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "NodeResourcesFitPlus"

// Strategy says which nodes are preferred.
type Strategy string

// The strategies.
const (
	LeastAllocated Strategy = "LeastAllocated" // those of which least is used
	MostAllocated  Strategy = "MostAllocated"  // those of which most is used
)

// Resource is one that counts, and how.
type Resource struct {
	// Name is model.CPU, model.Memory, model.EphemeralStorage or a scalar's.
	Name     string
	Strategy Strategy // required, LeastAllocated or MostAllocated
	// Weight is how much it counts beside the others, 1 to 100.
	Weight int64
}

// Args are the arguments.
type Args struct {
	// Resources are those that count, each once. Required.
	Resources []Resource
}

// Validate lists everything that is wrong with the arguments in one error.
func (a Args) Validate() error {
	var p helper.Problems
	if len(a.Resources) == 0 {
		p.Addf("resources", "must not be empty")
	}
	for i, r := range a.Resources {
		field := fmt.Sprintf("resources[%d]", i)
		switch {
		case r.Name == "":
			p.Addf(field+".name", "must not be empty")
		case slices.ContainsFunc(a.Resources[:i], func(o Resource) bool { return o.Name == r.Name }):
			p.Addf(field+".name", "%q is there twice", r.Name)
		}
		if r.Strategy != LeastAllocated && r.Strategy != MostAllocated {
			p.Addf(field+".strategy", "%q of %q is neither %q nor %q", r.Strategy, r.Name, LeastAllocated, MostAllocated)
		}
		if r.Weight < 1 || r.Weight > 100 {
			p.Addf(field+".weight", "%d of %q is not between 1 and 100", r.Weight, r.Name)
		}
	}
	return p.Err(Name)
}
