package noderesourcesallocatable

import (
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "NodeResourcesAllocatable"

// Mode says which nodes are preferred.
type Mode string

// The modes.
const (
	Least Mode = "Least" // small ones
	Most  Mode = "Most"  // large ones
)

// ResourceWeight says how much a unit of a resource counts.
type ResourceWeight struct {
	// Name is model.CPU, model.Memory, model.EphemeralStorage or a scalar's. A node that
	// does not have it has 0 of it.
	Name string
	// Weight is at least 1.
	Weight int64
}

// Args are the arguments.
type Args struct {
	// Mode is Least or Most. Default: Least.
	Mode Mode
	// Resources are those that count. Default: CPU with weight 2^20 and memory with weight
	// 1, so that a thousandth of a CPU counts as much as a MiB.
	Resources []ResourceWeight
}

// cpuWeight makes a thousandth of a CPU count as a MiB.
const cpuWeight = 1 << 20

func (a Args) withDefaults() Args {
	if a.Mode == "" {
		a.Mode = Least
	}
	if len(a.Resources) == 0 {
		a.Resources = []ResourceWeight{{model.CPU, cpuWeight}, {model.Memory, 1}}
	}
	return a
}

// Validate lists everything that is wrong with the arguments in one error.
//
// Rules: kubernetes-sigs/scheduler-plugins apis/config/validation, commit 903da7df.
func (a Args) Validate() error {
	var p helper.Problems
	if a.Mode != "" && a.Mode != Least && a.Mode != Most {
		p.Addf("Mode", "%q is neither %q nor %q", a.Mode, Least, Most)
	}
	for _, r := range a.Resources {
		if r.Name == "" {
			p.Addf("Resources", "a name is empty")
		}
		if r.Weight < 1 {
			p.Addf("Resources", "the weight %d of %q is less than 1", r.Weight, r.Name)
		}
	}
	return p.Err(Name)
}
