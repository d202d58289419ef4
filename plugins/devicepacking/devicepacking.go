package devicepacking

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// policies makes the plugin of each policy. Each is a type of its own, so that
// it has the points that it needs and no others.
var policies = map[Policy]func(base, Args) extpoints.ScorePlugin{
	Random:     func(b base, _ Args) extpoints.ScorePlugin { return &random{b} },
	DotProd:    func(b base, _ Args) extpoints.ScorePlugin { return &dotProd{deterministic{b}} },
	Clustering: func(b base, _ Args) extpoints.ScorePlugin { return &clustering{deterministic{b}} },
	Packing:    func(b base, _ Args) extpoints.ScorePlugin { return &packing{deterministic{b}} },
	BestFit:    func(b base, _ Args) extpoints.ScorePlugin { return &bestFit{deterministic{b}} },
	FGD:        newFGD,
	Rollout:    newRollout,
}

// New makes the plugin. Its arguments are [Args].
func New(a Args, _ extpoints.Handle) (extpoints.Plugin, error) {
	a = a.WithDefaults()
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return policies[a.Policy](base{a.Class, a.LargestCPU, a.LargestShares}, a), nil
}

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
	case a.Policy != FGD && a.Policy != Rollout && len(a.Typical) > 0:
		p.Addf("Typical", "is set, and only the policies %s and %s use it", FGD, Rollout)
	}
	switch {
	case a.learns() && a.Relearn <= 0:
		p.Addf("Relearn", "%v is not above 0", a.Relearn)
	case !a.learns() && a.Relearn != 0:
		p.Addf("Relearn", "is set, and only policy %s without Typical uses it", Rollout)
	}
	a.validateResource(&p)
	a.validateTypical(&p)
	return p.Err(Name)
}

func (a Args) validateResource(p *helper.Problems) {
	if a.Resource == "" {
		if a.Units != 0 {
			p.Addf("Units", "is set, and Resource is not")
		}
		if a.ModelLabel != "" {
			p.Addf("ModelLabel", "is set, and Resource is not")
		}
		return
	}
	if a.Policy != Rollout {
		p.Addf("Resource", "is set, and only policy %s uses it", Rollout)
	}
	if a.Resource == model.CPU || a.Resource == model.Memory || a.Resource == model.EphemeralStorage {
		p.Addf("Resource", "%s does not come in devices", a.Resource)
	}
	if a.Units < 0 {
		p.Addf("Units", "%d is negative", a.Units)
	}
}
