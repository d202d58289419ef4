package podtopologyspread

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// DefaultingType says which constraints a workload without its own has.
type DefaultingType string

// The types of defaulting.
const (
	// System: both preferred, at most 3 more on one host and at most 5 more in
	// one zone than elsewhere. Unlike all other constraints they also score
	// nodes that lack one of the two labels.
	System DefaultingType = "System"
	// List: those listed in Args.DefaultConstraints, which may be none.
	List DefaultingType = "List"
)

// The labels that the constraints of System are about. kubernetes.io/hostname
// is also special to scoring: it is taken to be different on every node.
const (
	hostKey = "kubernetes.io/hostname"
	zoneKey = "topology.kubernetes.io/zone"
)

// systemConstraints are kube-scheduler's, plugins/podtopologyspread/plugin.go,
// 1.37.1.
var systemConstraints = []model.SpreadConstraint{
	{TopologyKey: hostKey, Mode: model.SpreadPreferred, MaxSkew: 3},
	{TopologyKey: zoneKey, Mode: model.SpreadPreferred, MaxSkew: 5},
}

// Name is the plugin's name.
const Name = "PodTopologySpread"

// Args are the plugin's arguments.
type Args struct {
	// DefaultConstraints are the constraints of workloads that have none of
	// their own, of either mode, and that have an OwnerSelector with
	// requirements. That takes the place of Selector, which must be nil here,
	// and MatchLabelKeys mean nothing. Default: none.
	DefaultConstraints []model.SpreadConstraint
	// DefaultingType is System or List. Default: System, which allows no
	// DefaultConstraints.
	DefaultingType DefaultingType
}

// WithDefaults returns the arguments with the defaults of kube-scheduler,
// apis/config/v1/defaults.go, 1.37.1, in place of what is not set.
func (a Args) WithDefaults() Args {
	if a.DefaultingType == "" {
		a.DefaultingType = System
	}
	return a
}

// Validate lists everything that is wrong with the arguments in one
// [*model.ValidationError].
//
// Rules: kube-scheduler apis/config/validation/validation_pluginargs.go
// ValidatePodTopologySpreadArgs, 1.37.1, except for the spelling of label keys,
// which is the orchestrator's affair. Policies that do not exist and a negative
// MinDomains, which are not looked at there, are refused.
func (a Args) Validate() error {
	var p helper.Problems
	switch a.WithDefaults().DefaultingType {
	case System:
		if len(a.DefaultConstraints) > 0 {
			p.Addf("defaultingType", "must be %s where there are defaultConstraints", List)
		}
	case List:
	default:
		p.Addf("defaultingType", "%q is none of %s, %s", a.DefaultingType, System, List)
	}
	for i := range a.DefaultConstraints {
		checkDefault(&p, a.DefaultConstraints, i)
	}
	return p.Err(Name)
}

// checkDefault checks one of the default constraints.
func checkDefault(p *helper.Problems, list []model.SpreadConstraint, i int) {
	c := &list[i]
	field := fmt.Sprintf("defaultConstraints[%d]", i)
	if c.MaxSkew < 1 {
		p.Addf(field+".maxSkew", "%d is less than 1", c.MaxSkew)
	}
	if c.TopologyKey == "" {
		p.Addf(field+".topologyKey", "must not be empty")
	}
	if c.Mode != model.SpreadRequired && c.Mode != model.SpreadPreferred {
		p.Addf(field+".mode", "%q is none of %s, %s", c.Mode, model.SpreadRequired, model.SpreadPreferred)
	}
	if c.Selector != nil {
		p.Addf(field+".selector", "must be nil; each workload's OwnerSelector takes its place")
	}
	if c.MinDomains < 0 {
		p.Addf(field+".minDomains", "%d is less than 0", c.MinDomains)
	}
	checkPolicy(p, field+".nodeAffinityPolicy", c.NodeAffinityPolicy)
	checkPolicy(p, field+".nodeTaintsPolicy", c.NodeTaintsPolicy)
	same := func(other model.SpreadConstraint) bool {
		return other.TopologyKey == c.TopologyKey && other.Mode == c.Mode
	}
	if j := slices.IndexFunc(list[:i], same); j >= 0 {
		p.Addf(field, "has the same topology key and mode as [%d]", j)
	}
}

func checkPolicy(p *helper.Problems, field string, policy model.InclusionPolicy) {
	switch policy {
	case "", model.Honor, model.Ignore:
	default:
		p.Addf(field, "%q is none of %s, %s", policy, model.Honor, model.Ignore)
	}
}
