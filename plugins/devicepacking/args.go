package devicepacking

import (
	"fmt"
	"math"
	"time"

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
	Rollout    Policy = "Rollout"
)

// Defaults of [Args].
const (
	DefaultPolicy        = BestFit
	DefaultClass         = "gpu"
	DefaultLargestCPU    = 128000 // milli-CPU
	DefaultLargestShares = 8000   // thousandths of a device
	DefaultRelearn       = 10 * time.Minute
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
	// Typical are the workloads by which FGD and Rollout judge what idle devices
	// are good for, those without devices included. For FGD their order is part
	// of the result to the last digit: the authors' is the most common first, and
	// the rarest 5 % left out. For Rollout the order makes no difference, and rare
	// shapes should be there. Required for FGD, refused for the others. Rollout learns
	// from the workloads on nodes where there are none. Default: none.
	Typical []Typical
	// Relearn is how often Rollout learns anew which workloads are typical: at each
	// multiple of it, from those that were placed before and are still there. Each
	// time all nodes are judged anew, which costs as much as some hundred decisions.
	// Refused for other policies, and with Typical. Default: DefaultRelearn.
	Relearn time.Duration
	// Resource, where not empty, says that Rollout finds devices in the amounts of this resource
	// that nodes offer and workloads ask for, as in Kubernetes, not in the fields for
	// devices; Class is not looked at. Which devices a workload gets is then decided
	// elsewhere: a node is judged as if its devices were used up one after the other. Refused
	// for other policies. Default: none.
	Resource string
	// Units is how many units of Resource are one device: more than 1 where the resource is for
	// shares. Refused without Resource. Default: 1.
	Units int64
	// ModelLabel is the label of nodes that tells the model of their devices of Resource. A
	// workload names models by a node selector or required node affinity for it. Refused without
	// Resource. Default: none, so all devices are alike.
	ModelLabel string
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
	if a.Units == 0 && a.Resource != "" {
		a.Units = 1
	}
	if a.Relearn == 0 && a.learns() {
		a.Relearn = DefaultRelearn
	}
	return a
}

// learns reports whether the policy learns which workloads are typical.
func (a Args) learns() bool { return a.Policy == Rollout && len(a.Typical) == 0 }

// weightTolerance is how far the sum of the weights may be from 1.
const weightTolerance = 1e-6

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
