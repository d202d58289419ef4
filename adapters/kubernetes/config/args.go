package config

import (
	"errors"
	"math"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultpreemption"
	"github.com/berth-project/berth/plugins/dynamicresources"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
	"github.com/berth-project/berth/plugins/helper"
	"github.com/berth-project/berth/plugins/interpodaffinity"
	"github.com/berth-project/berth/plugins/nodeaffinity"
	"github.com/berth-project/berth/plugins/noderesources"
	"github.com/berth-project/berth/plugins/podtopologyspread"
	"github.com/berth-project/berth/plugins/volumebinding"
)

// args translates the arguments of a plugin; nil for none, and where they are refused, here or
// by [Config.Validate].
func (t *translation) args(path *field.Path, entry *configv1.PluginConfig) (args any, refused bool) {
	var p problems
	if p.validateArgs(path, entry.Args.Object, t.gates); p.err() != nil {
		return nil, true
	}
	before := len(t.list)
	args = t.translateArgs(path, entry)
	if len(t.list) > before {
		return nil, true
	}
	return args, false
}

func (t *translation) translateArgs(path *field.Path, entry *configv1.PluginConfig) any {
	switch a := entry.Args.Object.(type) {
	case nil:
		if isKubernetes(entry.Name) {
			return nil // it takes none and does not look at them
		}
		return unknown(&entry.Args)
	case *configv1.DefaultPreemptionArgs:
		return defaultpreemption.Args{
			MinCandidateNodesPercentage: a.MinCandidateNodesPercentage,
			MinCandidateNodesAbsolute:   a.MinCandidateNodesAbsolute,
			Synchronous:                 !t.gates.SchedulerAsyncPreemption,
		}
	case *configv1.InterPodAffinityArgs:
		return interpodaffinity.Args{
			HardPodAffinityWeight:              a.HardPodAffinityWeight,
			IgnorePreferredTermsOfExistingPods: a.IgnorePreferredTermsOfExistingPods,
		}
	case *configv1.NodeAffinityArgs:
		return t.nodeAffinity(path.Child("addedAffinity"), a)
	case *configv1.NodeResourcesBalancedAllocationArgs:
		return noderesources.BalancedAllocationArgs{Resources: t.resources(path.Child("resources"), a.Resources)}
	case *configv1.NodeResourcesFitArgs:
		return t.fit(path, a)
	case *configv1.PodTopologySpreadArgs:
		return t.spread(path.Child("defaultConstraints"), a)
	case *configv1.VolumeBindingArgs:
		return t.volumeBinding(a)
	case *configv1.DynamicResourcesArgs:
		return t.dynamicResources(a)
	}
	t.add(field.InternalError(path, errors.New("arguments of an unexpected type")))
	return nil
}

func (t *translation) fit(path *field.Path, a *configv1.NodeResourcesFitArgs) any {
	t.validateFit(path, a)
	s := a.ScoringStrategy
	if s == nil {
		return nil
	}
	out := noderesources.FitArgs{
		IgnoredResources:      a.IgnoredResources,
		IgnoredResourceGroups: a.IgnoredResourceGroups,
		Strategy: noderesources.Strategy{
			Type:      noderesources.StrategyType(s.Type),
			Resources: t.resources(path.Child("scoringStrategy", "resources"), s.Resources),
		},
	}
	if s.RequestedToCapacityRatio != nil {
		out.Strategy.Shape = shape(s.RequestedToCapacityRatio.Shape)
	}
	return out
}

func (t *translation) resources(path *field.Path, in []configv1.ResourceSpec) []noderesources.ResourceWeight {
	var out []noderesources.ResourceWeight
	for i := range in {
		if in[i].Name == "" {
			t.add(field.Required(path.Index(i).Child("name"), "a resource without a name is not supported"))
		}
		out = append(out, noderesources.ResourceWeight{Name: in[i].Name, Weight: in[i].Weight})
	}
	return out
}

func shape(in []configv1.UtilizationShapePoint) []helper.ShapePoint {
	var out []helper.ShapePoint
	for _, point := range in {
		out = append(out, helper.ShapePoint{Utilization: int64(point.Utilization), Score: int64(point.Score)})
	}
	return out
}

// flat scores every node the same.
var flat = []helper.ShapePoint{{Utilization: 0, Score: 0}}

func (t *translation) volumeBinding(a *configv1.VolumeBindingArgs) any {
	out := volumebinding.Args{BindTimeout: seconds(ptr.Deref(a.BindTimeoutSeconds, 0)), Shape: flat}
	if out.BindTimeout == 0 { // not to be waited for; Berth's 0 is the default
		out.BindTimeout = time.Nanosecond
	}
	if t.gates.StorageCapacityScoring {
		out.Shape = shape(a.Shape)
	}
	return out
}

// seconds is the duration, or the longest one there is.
func seconds(n int64) time.Duration {
	return time.Duration(min(n, int64(math.MaxInt64/time.Second))) * time.Second
}

func (t *translation) dynamicResources(a *configv1.DynamicResourcesArgs) any {
	out := dynamicresources.Args{MaxSteps: math.MaxInt64, Evaluator: t.devices}
	if a.BindingTimeout != nil {
		out.BindingTimeout = a.BindingTimeout.Duration
	}
	if a.FilterTimeout != nil && a.FilterTimeout.Duration > 0 {
		out.MaxSteps = steps(a.FilterTimeout.Duration)
	}
	return out
}

// steps is how many steps take the place of a timeout: as many times the
// allocator's default as the timeout is the default one.
func steps(timeout time.Duration) int64 {
	share := timeout.Seconds() / configv1.DynamicResourcesFilterTimeoutDefault.Seconds()
	return max(int64(share*allocator.DefaultMaxSteps), 1)
}

// carrier is a pod that brings a part of it through package convert.
func carrier(spec v1.PodSpec) *v1.Pod {
	pod := &v1.Pod{Spec: spec}
	pod.Name, pod.Namespace = "plugin-arguments", v1.NamespaceDefault
	return pod
}

// reportConverted reports what convert says of a carrier, by the field of the
// arguments that was in its place.
func (t *translation) reportConverted(err error, place string, path *field.Path) {
	var invalid *model.ValidationError
	if !errors.As(err, &invalid) {
		return
	}
	for _, problem := range invalid.Problems {
		t.add(&field.Error{
			Type: field.ErrorTypeInvalid, BadValue: field.OmitValueType{},
			Field:  path.String() + strings.TrimPrefix(problem.Field, place),
			Detail: problem.Message,
		})
	}
}

func (t *translation) nodeAffinity(path *field.Path, a *configv1.NodeAffinityArgs) any {
	w, err := convert.Pod(carrier(v1.PodSpec{Affinity: &v1.Affinity{NodeAffinity: a.AddedAffinity}}))
	t.reportConverted(err, "spec.affinity.nodeAffinity", path)
	return nodeaffinity.Args{AddedAffinity: w.NodeAffinity}
}

func (t *translation) spread(path *field.Path, a *configv1.PodTopologySpreadArgs) any {
	w, err := convert.Pod(carrier(v1.PodSpec{TopologySpreadConstraints: a.DefaultConstraints}))
	t.reportConverted(err, "spec.topologySpreadConstraints", path)
	return podtopologyspread.Args{
		DefaultConstraints: w.Spread,
		DefaultingType:     podtopologyspread.DefaultingType(a.DefaultingType),
	}
}
