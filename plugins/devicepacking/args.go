package devicepacking

import (
	"fmt"
	"math"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Policy names a way to compare nodes; see the package comment.
type Policy string

// The policies.
const (
	Random     Policy = "Random"
	DotProd    Policy = "DotProd"
	Clustering Policy = "Clustering"
	Packing    Policy = "Packing"
	BestFit    Policy = "BestFit"
	FGD        Policy = "FGD"
)

// Defaults of [Args].
const (
	DefaultPolicy        = BestFit
	DefaultClass         = "gpu"
	DefaultLargestCPU    = 128000 // milli-CPU
	DefaultLargestShares = 8000   // thousandths of a device
)

// Args are the arguments of the plugin.
type Args struct {
	// Policy is how nodes are compared. Default: DefaultPolicy.
	Policy Policy
	// Class is the class of the devices that are packed; requests for and
	// devices of other classes are not looked at. Default: DefaultClass.
	Class string
	// LargestCPU is the CPU of the largest node, in milli-CPU; DotProd and
	// BestFit scale by it. A larger node gets the score at the end of the
	// scale. Default: DefaultLargestCPU.
	LargestCPU int64
	// LargestShares is what all devices of the largest node have together, in
	// thousandths; DotProd, Clustering and BestFit scale by it. Default:
	// DefaultLargestShares.
	LargestShares int64
	// Typical are the workloads by which FGD judges what idle devices are good
	// for, those without devices included. Their order is part of the result
	// to the last digit: the authors' is the most common first. Required for
	// FGD, refused for the others. Default: none.
	Typical []Typical
}

// Typical is a common shape of workload.
type Typical struct {
	CPU int64 // milli-CPU
	// Share is the part of each device in thousandths, 1 to
	// model.WholeDevice; 0 where Count is 0.
	Share int64
	// Count is the number of devices; 0 for none, at most 1 where Share is
	// less than a whole device.
	Count int64
	// Models are the models that will do; empty means all.
	Models []string
	// Weight is its part of all typical workloads: above 0, and 1 over all of
	// them together.
	Weight float64
}

// WithDefaults returns a copy in which fields that are not set have their
// defaults.
func (a Args) WithDefaults() Args {
	if a.Policy == "" {
		a.Policy = DefaultPolicy
	}
	if a.Class == "" {
		a.Class = DefaultClass
	}
	if a.LargestCPU == 0 {
		a.LargestCPU = DefaultLargestCPU
	}
	if a.LargestShares == 0 {
		a.LargestShares = DefaultLargestShares
	}
	return a
}

// weightTolerance is how far the sum of the weights may be from 1.
const weightTolerance = 1e-6

// Validate returns an error that names everything that is wrong, of arguments
// that have their defaults.
func (a Args) Validate() error {
	var p helper.Problems
	if _, ok := policies[a.Policy]; !ok {
		p.Addf("Policy", "unknown policy %q", a.Policy)
	}
	if a.Class == "" {
		p.Addf("Class", "is empty")
	}
	if a.LargestCPU <= 0 {
		p.Addf("LargestCPU", "%d is not above 0", a.LargestCPU)
	}
	if a.LargestShares <= 0 {
		p.Addf("LargestShares", "%d is not above 0", a.LargestShares)
	}
	switch {
	case a.Policy == FGD && len(a.Typical) == 0:
		p.Addf("Typical", "is empty, and policy %s needs it", FGD)
	case a.Policy != FGD && len(a.Typical) > 0:
		p.Addf("Typical", "is set, and only policy %s uses it", FGD)
	}
	a.validateTypical(&p)
	return p.Err(Name)
}

func (a Args) validateTypical(p *helper.Problems) {
	sum := 0.0
	for i := range a.Typical {
		t, path := &a.Typical[i], fmt.Sprintf("Typical[%d]", i)
		if t.CPU < 0 {
			p.Addf(path+".CPU", "%d is negative", t.CPU)
		}
		switch {
		case t.Count < 0:
			p.Addf(path+".Count", "%d is negative", t.Count)
		case t.Count == 0 && t.Share != 0:
			p.Addf(path+".Share", "%d of no device", t.Share)
		case t.Count > 0 && (t.Share < 1 || t.Share > model.WholeDevice):
			p.Addf(path+".Share", "%d is not between 1 and %d", t.Share, model.WholeDevice)
		case t.Count > 1 && t.Share < model.WholeDevice:
			p.Addf(path+".Count", "%d devices can only be whole, not shares of %d", t.Count, t.Share)
		}
		if !(t.Weight > 0 && t.Weight <= 1+weightTolerance) { // refuses NaN
			p.Addf(path+".Weight", "%v is not above 0 and at most 1", t.Weight)
		}
		sum += t.Weight
	}
	if len(a.Typical) > 0 && !(math.Abs(sum-1) <= weightTolerance) {
		p.Addf("Typical", "the weights add up to %v, not 1", sum)
	}
}
