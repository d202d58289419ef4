package config

import (
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	affinity "k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"
)

// validateArgs says what is wrong with the arguments of a plugin, those of
// NodeResourcesFit apart.
//
// Rules: apis/config/validation/validation_pluginargs.go, 1.37.1, the function
// Validate of each type; here and below.
func (p *problems) validateArgs(path *field.Path, args runtime.Object, g Gates) {
	switch a := args.(type) {
	case *configv1.DefaultPreemptionArgs:
		p.validateDefaultPreemption(path, a)
	case *configv1.InterPodAffinityArgs:
		if w := ptr.Deref(a.HardPodAffinityWeight, 0); w < 0 || w > 100 {
			p.add(field.Invalid(path.Child("hardPodAffinityWeight"), w, "not in valid range [0, 100]"))
		}
	case *configv1.NodeAffinityArgs:
		p.validateNodeAffinity(path.Child("addedAffinity"), a.AddedAffinity)
	case *configv1.NodeResourcesBalancedAllocationArgs:
		p.validateBalanced(path.Child("resources"), a.Resources)
	case *configv1.PodTopologySpreadArgs:
		p.validateSpread(path, a)
	case *configv1.VolumeBindingArgs:
		p.validateVolumeBinding(path, a, g)
	case *configv1.DynamicResourcesArgs:
		p.validateDynamicResources(path, a, g)
	}
}

func (p *problems) validateDefaultPreemption(path *field.Path, a *configv1.DefaultPreemptionArgs) {
	percentagePath, absolutePath := path.Child("minCandidateNodesPercentage"), path.Child("minCandidateNodesAbsolute")
	percentage, absolute := ptr.Deref(a.MinCandidateNodesPercentage, 0), ptr.Deref(a.MinCandidateNodesAbsolute, 0)
	if percentage < 0 || percentage > 100 {
		p.add(field.Invalid(percentagePath, percentage, "not in valid range [0, 100]"))
	}
	if absolute < 0 {
		p.add(field.Invalid(absolutePath, absolute, "not in valid range [0, inf)"))
	}
	if percentage == 0 && absolute == 0 {
		p.add(field.Invalid(percentagePath, percentage, "cannot be zero at the same time as minCandidateNodesAbsolute"))
		p.add(field.Invalid(absolutePath, absolute, "cannot be zero at the same time as minCandidateNodesPercentage"))
	}
}

// validateNodeAffinity has the library read the affinity that every pod gets.
func (p *problems) validateNodeAffinity(path *field.Path, a *v1.NodeAffinity) {
	if a == nil {
		return
	}
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		at := path.Child("requiredDuringSchedulingIgnoredDuringExecution")
		if _, err := affinity.NewNodeSelector(required, field.WithPath(at)); err != nil {
			p.add(err)
		}
	}
	if preferred := a.PreferredDuringSchedulingIgnoredDuringExecution; len(preferred) > 0 {
		at := path.Child("preferredDuringSchedulingIgnoredDuringExecution")
		if _, err := affinity.NewPreferredSchedulingTerms(preferred, field.WithPath(at)); err != nil {
			p.add(err)
		}
	}
}

func (p *problems) validateBalanced(path *field.Path, list []configv1.ResourceSpec) {
	seen := map[string]bool{}
	for i := range list {
		name, weight := list[i].Name, list[i].Weight
		if seen[name] {
			p.add(field.Duplicate(path.Index(i).Child("name"), name))
		}
		seen[name] = true
		if weight != 1 {
			p.add(field.Invalid(path.Index(i).Child("weight"), weight, "must be 1"))
		}
	}
}

func (p *problems) validateSpread(path *field.Path, a *configv1.PodTopologySpreadArgs) {
	at := path.Child("defaultingType")
	switch {
	case a.DefaultingType != configv1.SystemDefaulting && a.DefaultingType != configv1.ListDefaulting:
		p.add(field.NotSupported(at, a.DefaultingType, []configv1.PodTopologySpreadConstraintsDefaulting{configv1.SystemDefaulting, configv1.ListDefaulting}))
	case a.DefaultingType == configv1.SystemDefaulting && len(a.DefaultConstraints) > 0:
		p.add(field.Invalid(at, a.DefaultingType, "when .defaultConstraints are not empty"))
	}
	for i := range a.DefaultConstraints {
		p.validateConstraint(path.Child("defaultConstraints"), a.DefaultConstraints, i)
	}
}

// validateConstraint validates one of the default constraints.
func (p *problems) validateConstraint(path *field.Path, list []v1.TopologySpreadConstraint, i int) {
	c, at := &list[i], path.Index(i)
	if c.MaxSkew <= 0 {
		p.add(field.Invalid(at.Child("maxSkew"), c.MaxSkew, "not in valid range (0, inf)"))
	}
	if c.TopologyKey == "" {
		p.add(field.Required(at.Child("topologyKey"), "can not be empty"))
	} else {
		p.addList(metav1validation.ValidateLabelName(c.TopologyKey, at.Child("topologyKey")))
	}
	switch c.WhenUnsatisfiable {
	case v1.DoNotSchedule, v1.ScheduleAnyway:
	case "":
		p.add(field.Required(at.Child("whenUnsatisfiable"), "can not be empty"))
	default:
		p.add(field.NotSupported(at.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, []v1.UnsatisfiableConstraintAction{v1.DoNotSchedule, v1.ScheduleAnyway}))
	}
	if c.LabelSelector != nil {
		p.add(field.Forbidden(at.Child("labelSelector"), "constraint must not define a selector, as they deduced for each pod"))
	}
	for j := range list[:i] {
		if list[j].TopologyKey == c.TopologyKey && list[j].WhenUnsatisfiable == c.WhenUnsatisfiable {
			p.add(field.Duplicate(at, fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable)))
			break
		}
	}
}

func (p *problems) validateVolumeBinding(path *field.Path, a *configv1.VolumeBindingArgs, g Gates) {
	if n := ptr.Deref(a.BindTimeoutSeconds, 0); n < 0 {
		p.add(field.Invalid(path.Child("bindTimeoutSeconds"), n, "invalid BindTimeoutSeconds, should not be a negative value"))
	}
	switch {
	case g.StorageCapacityScoring:
		p.validateShape(path.Child("shape"), a.Shape)
	case a.Shape != nil:
		p.add(field.Invalid(path.Child("shape"), a.Shape, "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"))
	}
}

// validateShape validates the points of a broken line.
func (p *problems) validateShape(path *field.Path, shape []configv1.UtilizationShapePoint) {
	if len(shape) == 0 {
		p.add(field.Required(path, "at least one point must be specified"))
	}
	for i := 1; i < len(shape); i++ {
		if shape[i-1].Utilization >= shape[i].Utilization {
			p.add(field.Invalid(path.Index(i).Child("utilization"), shape[i].Utilization, "values must be sorted in increasing order"))
			break
		}
	}
	for i := range shape {
		if u := shape[i].Utilization; u < 0 || u > 100 {
			p.add(field.Invalid(path.Index(i).Child("utilization"), u, "not in valid range [0, 100]"))
		}
		if s := shape[i].Score; s < 0 || s > maxShapePoint {
			p.add(field.Invalid(path.Index(i).Child("score"), s, fmt.Sprintf("not in valid range [0, %d]", maxShapePoint)))
		}
	}
}

// validateDynamicResources refuses arguments whose feature gate is off, other than
// the API server, which drops them.
func (p *problems) validateDynamicResources(path *field.Path, a *configv1.DynamicResourcesArgs, g Gates) {
	switch at := path.Child("filterTimeout"); {
	case a.FilterTimeout == nil:
	case !g.DRASchedulerFilterTimeout:
		p.add(field.Forbidden(at, "DRASchedulingFilterTimeout feature gate is disabled"))
	case a.FilterTimeout.Duration < 0:
		p.add(field.Invalid(at, a.FilterTimeout, "must be zero or positive"))
	}
	switch at := path.Child("bindingTimeout"); {
	case a.BindingTimeout == nil:
	case !g.DRADeviceBindingConditions || !g.DRAResourceClaimDeviceStatus:
		p.add(field.Forbidden(at, "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"))
	case a.BindingTimeout.Duration < time.Second:
		p.add(field.Invalid(at, a.BindingTimeout, "must be at least 1 second"))
	}
}

// validateFit validates the arguments of NodeResourcesFit.
func (p *problems) validateFit(path *field.Path, a *configv1.NodeResourcesFitArgs) {
	for i, name := range a.IgnoredResources {
		p.addList(metav1validation.ValidateLabelName(name, path.Child("ignoredResources").Index(i)))
	}
	for i, group := range a.IgnoredResourceGroups {
		at := path.Child("ignoredResourceGroups").Index(i)
		if strings.Contains(group, "/") {
			p.add(field.Invalid(at, group, "resource group name can't contain '/'"))
		}
		p.addList(metav1validation.ValidateLabelName(group, at))
	}
	at, s := path.Child("scoringStrategy"), a.ScoringStrategy
	if s == nil {
		p.add(field.Required(at, "ScoringStrategy field is required"))
		return
	}
	for i := range s.Resources {
		if w := s.Resources[i].Weight; w <= 0 || w > 100 {
			p.add(field.Invalid(at.Child("resources").Index(i).Child("weight"), w, fmt.Sprintf("resource weight of %v not in valid range (0, 100]", s.Resources[i].Name)))
		}
	}
	switch s.Type {
	case configv1.LeastAllocated, configv1.MostAllocated, configv1.RequestedToCapacityRatio:
	default:
		p.add(field.NotSupported(at.Child("type"), s.Type, []configv1.ScoringStrategyType{configv1.LeastAllocated, configv1.MostAllocated, configv1.RequestedToCapacityRatio}))
	}
	ratio, line := at.Child("requestedToCapacityRatio"), s.RequestedToCapacityRatio
	switch {
	case s.Type != configv1.RequestedToCapacityRatio && line != nil:
		p.add(field.Forbidden(ratio, "must be nil when type is not RequestedToCapacityRatio"))
	case s.Type == configv1.RequestedToCapacityRatio && line == nil:
		p.add(field.Required(ratio, "must be specified when type is RequestedToCapacityRatio"))
	case s.Type == configv1.RequestedToCapacityRatio:
		p.validateShape(ratio.Child("shape"), line.Shape)
	}
}
