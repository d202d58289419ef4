package defaultpreemption

import "github.com/berth-project/berth/extpoints"

// PreemptionTolerationName is the name of the plugin PreemptionToleration.
const PreemptionTolerationName = "PreemptionToleration"

// PreemptionToleration is DefaultPreemption that also leaves those alone who do not
// tolerate it yet.
type PreemptionToleration struct{ *DefaultPreemption }

// NewPreemptionToleration makes the plugin. Its arguments are [Args], as in upstream's.
func NewPreemptionToleration(a Args, h extpoints.Handle) (*PreemptionToleration, error) {
	p, err := New(a, h)
	if err != nil {
		return nil, err
	}
	p.tolerations = true
	return &PreemptionToleration{p}, nil
}

// Name returns the plugin's name.
func (*PreemptionToleration) Name() string { return PreemptionTolerationName }
