package config

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/berth-project/berth/plugins/defaultpreemption"
	"github.com/berth-project/berth/plugins/interpodaffinity"
	"github.com/berth-project/berth/plugins/volumebinding"
)

// maxShapePoint is the highest score of a point of a shape (apis/config/types.go
// MaxCustomPriorityScore, 1.37.1).
const maxShapePoint int32 = 10

// setArgsDefaults fills in what is left out of the arguments of a plugin.
//
// Rules: apis/config/v1/defaults.go, 1.37.1, the function SetDefaults_ of each type.
func setArgsDefaults(args runtime.Object, g Gates) {
	switch a := args.(type) {
	case *configv1.DefaultPreemptionArgs:
		orElse(&a.MinCandidateNodesPercentage, defaultpreemption.DefaultMinCandidateNodesPercentage)
		orElse(&a.MinCandidateNodesAbsolute, defaultpreemption.DefaultMinCandidateNodesAbsolute)
	case *configv1.InterPodAffinityArgs:
		orElse(&a.HardPodAffinityWeight, interpodaffinity.DefaultHardPodAffinityWeight)
	case *configv1.VolumeBindingArgs:
		orElse(&a.BindTimeoutSeconds, int64(volumebinding.DefaultBindTimeout.Seconds()))
		if len(a.Shape) == 0 && g.StorageCapacityScoring {
			a.Shape = []configv1.UtilizationShapePoint{{Utilization: 0, Score: maxShapePoint}, {Utilization: 100, Score: 0}}
		}
	case *configv1.NodeResourcesBalancedAllocationArgs:
		a.Resources = resourcesOrDefault(a.Resources)
	case *configv1.NodeResourcesFitArgs:
		if a.ScoringStrategy == nil {
			a.ScoringStrategy = &configv1.ScoringStrategy{Type: configv1.LeastAllocated}
		}
		a.ScoringStrategy.Resources = resourcesOrDefault(a.ScoringStrategy.Resources)
	case *configv1.PodTopologySpreadArgs:
		orElseZero(&a.DefaultingType, configv1.SystemDefaulting)
	case *configv1.DynamicResourcesArgs:
		if g.DRASchedulerFilterTimeout {
			orElse(&a.FilterTimeout, metav1.Duration{Duration: configv1.DynamicResourcesFilterTimeoutDefault})
		}
		if g.DRADeviceBindingConditions && g.DRAResourceClaimDeviceStatus {
			orElse(&a.BindingTimeout, metav1.Duration{Duration: configv1.DynamicResourcesBindingTimeoutDefault})
		}
	}
}

// resourcesOrDefault is CPU and memory where the list is empty, and gives resources
// without a weight the weight 1.
func resourcesOrDefault(list []configv1.ResourceSpec) []configv1.ResourceSpec {
	if len(list) == 0 {
		return []configv1.ResourceSpec{{Name: string(v1.ResourceCPU), Weight: 1}, {Name: string(v1.ResourceMemory), Weight: 1}}
	}
	for i := range list {
		orElseZero(&list[i].Weight, 1)
	}
	return list
}
