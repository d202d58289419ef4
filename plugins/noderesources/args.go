package noderesources

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the name of the plugin NodeResourcesFit.
const Name = "NodeResourcesFit"

// BalancedAllocationName is the name of the plugin
// NodeResourcesBalancedAllocation.
const BalancedAllocationName = "NodeResourcesBalancedAllocation"

// ResourceWeight says how much a resource counts in a score.
type ResourceWeight struct {
	// Name is model.CPU, model.Memory, model.EphemeralStorage or a scalar's.
	Name string
	// Weight is 1 to 100. Default: 0 means 1.
	Weight int64
}

// StrategyType names a way of scoring.
type StrategyType string

// The strategies.
const (
	LeastAllocated           StrategyType = "LeastAllocated"
	MostAllocated            StrategyType = "MostAllocated"
	RequestedToCapacityRatio StrategyType = "RequestedToCapacityRatio"
)

// maxShapeScore is the largest Score of a point of a Shape; scores are scaled
// from it to extpoints.MaxScore.
const maxShapeScore = 10

// Strategy says how NodeResourcesFit scores.
type Strategy struct {
	// Type is one of the strategies. Default: LeastAllocated.
	Type StrategyType
	// Resources are those that count. Default: CPU and memory, weight 1 each.
	Resources []ResourceWeight
	// Shape is the curve of RequestedToCapacityRatio: score 0 to 10 by
	// utilization 0 to 100 percent, in ascending order of utilization.
	// Default: none; it is needed for that type and refused for the others.
	Shape []helper.ShapePoint
}

// FitArgs are the arguments of NodeResourcesFit.
type FitArgs struct {
	// IgnoredResources are scalars that Filter does not look at. Names that
	// Kubernetes treats as its own (huge pages, attachable volumes, anything
	// with kubernetes.io/ in it) cannot be ignored, as there. Default: none.
	IgnoredResources []string
	// IgnoredResourceGroups are the parts before the slash of scalars that
	// Filter does not look at. Default: none.
	IgnoredResourceGroups []string
	// Strategy says how nodes are scored. Default: see its fields.
	Strategy Strategy
}

// BalancedAllocationArgs are the arguments of NodeResourcesBalancedAllocation.
type BalancedAllocationArgs struct {
	// Resources are those to balance; each weight must be 1 (or 0 for 1).
	// Default: CPU and memory.
	Resources []ResourceWeight
}

// WithDefaults returns the arguments with the defaults of kube-scheduler,
// apis/config/v1/defaults.go, 1.37.1, in place of what is not set.
func (a FitArgs) WithDefaults() FitArgs {
	if a.Strategy.Type == "" {
		a.Strategy.Type = LeastAllocated
	}
	a.Strategy.Resources = withDefaultWeights(a.Strategy.Resources)
	return a
}

// WithDefaults returns the arguments with the defaults in place of what is not
// set.
func (a BalancedAllocationArgs) WithDefaults() BalancedAllocationArgs {
	a.Resources = withDefaultWeights(a.Resources)
	return a
}

func withDefaultWeights(list []ResourceWeight) []ResourceWeight {
	if len(list) == 0 {
		return []ResourceWeight{{Name: model.CPU, Weight: 1}, {Name: model.Memory, Weight: 1}}
	}
	list = slices.Clone(list)
	for i := range list {
		if list[i].Weight == 0 {
			list[i].Weight = 1
		}
	}
	return list
}

// Validate lists everything that is wrong with the arguments in one error.
//
// Rules: kube-scheduler apis/config/validation/validation_pluginargs.go
// ValidateNodeResourcesFitArgs, 1.37.1, except for the spelling of resource
// names, which is the orchestrator's affair.
func (a FitArgs) Validate() error {
	var p helper.Problems
	for i, name := range a.IgnoredResources {
		if name == "" {
			p.Addf(fmt.Sprintf("ignoredResources[%d]", i), "a name is needed")
		}
	}
	for i, group := range a.IgnoredResourceGroups {
		field := fmt.Sprintf("ignoredResourceGroups[%d]", i)
		if group == "" {
			p.Addf(field, "a name is needed")
		}
		if strings.Contains(group, "/") {
			p.Addf(field, "%q must not contain a slash", group)
		}
	}
	a.Strategy.check(&p)
	return p.Err(Name)
}

func (s *Strategy) check(p *helper.Problems) {
	for i, r := range s.Resources {
		field := fmt.Sprintf("strategy.resources[%d]", i)
		if r.Name == "" {
			p.Addf(field+".name", "a name is needed")
		}
		if r.Weight < 0 || r.Weight > 100 {
			p.Addf(field+".weight", "%d is not in [1, 100]", r.Weight)
		}
	}
	switch s.Type {
	case "", LeastAllocated, MostAllocated:
		if s.Shape != nil {
			p.Addf("strategy.shape", "only for type %s", RequestedToCapacityRatio)
		}
	case RequestedToCapacityRatio:
		checkShape(p, s.Shape)
	default:
		p.Addf("strategy.type", "%q is none of %s, %s, %s", s.Type, LeastAllocated, MostAllocated, RequestedToCapacityRatio)
	}
}

func checkShape(p *helper.Problems, shape []helper.ShapePoint) {
	if len(shape) == 0 {
		p.Addf("strategy.shape", "at least one point is needed for type %s", RequestedToCapacityRatio)
	}
	for i, point := range shape {
		field := fmt.Sprintf("strategy.shape[%d]", i)
		if point.Utilization < 0 || point.Utilization > 100 {
			p.Addf(field+".utilization", "%d is not in [0, 100]", point.Utilization)
		}
		if i > 0 && point.Utilization <= shape[i-1].Utilization {
			p.Addf(field+".utilization", "%d is not above the one before it", point.Utilization)
		}
		if point.Score < 0 || point.Score > maxShapeScore {
			p.Addf(field+".score", "%d is not in [0, %d]", point.Score, maxShapeScore)
		}
	}
}

// Validate lists everything that is wrong with the arguments in one error.
//
// Rules: kube-scheduler apis/config/validation/validation_pluginargs.go
// ValidateNodeResourcesBalancedAllocationArgs, 1.37.1.
func (a BalancedAllocationArgs) Validate() error {
	var p helper.Problems
	for i, r := range a.Resources {
		field := fmt.Sprintf("resources[%d]", i)
		if r.Name == "" {
			p.Addf(field+".name", "a name is needed")
		}
		if slices.ContainsFunc(a.Resources[:i], func(o ResourceWeight) bool { return o.Name == r.Name }) {
			p.Addf(field+".name", "%q is there twice", r.Name)
		}
		if r.Weight != 0 && r.Weight != 1 {
			p.Addf(field+".weight", "%d must be 1", r.Weight)
		}
	}
	return p.Err(BalancedAllocationName)
}
