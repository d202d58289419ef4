package convert

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/berth-project/berth/model"
)

// requestsPath is where a problem with the sum of a pod's requests is reported;
// the sum stands nowhere itself.
var requestsPath = field.NewPath("spec", "containers[*]", "resources", "requests")

// podRequests is what the pod needs of its node, and the load that scoring
// counts in place of it.
//
// A pod on a node needs what its containers have as well as what they are to
// have, where that is being changed; a pod that waits needs what its
// specification says.
//
// Rules: kube-scheduler pkg/scheduler/framework/types.go (CalculateResource) for
// the one, plugins/noderesources/fit.go for the other, 1.37.1.
func (p *problems) podRequests(pod *v1.Pod) (requests, estimate model.Resources) {
	placed := pod.Spec.NodeName != ""
	options := resourcehelper.PodResourcesOptions{
		UseStatusResources: placed,
		InPlacePodLevelResourcesVerticalScalingEnabled: placed,
	}
	list := sumRequests(pod, options)
	requests = p.resources(requestsPath, list)

	options.NonMissingContainerRequests = assumed(pod, list)
	if len(options.NonMissingContainerRequests) > 0 {
		list = sumRequests(pod, options)
	}
	estimate = requests // with the same scalars
	// What may be wrong here was wrong, and reported, above.
	estimate.CPU, _ = amount(list[v1.ResourceCPU], resource.Milli)
	estimate.Memory, _ = amount(list[v1.ResourceMemory], 0)
	return requests, estimate
}

// fitLoad is what NodeResourcesFit counts of the pod when it scores a node for it:
// its containers, whatever the pod requests as a whole. It is nil where that is
// what scoring counts anyway.
//
// Rule: kube-scheduler pkg/scheduler/framework/plugins/noderesources/
// resource_allocation.go (calculatePodResourceRequest, whose scorer is not told of
// pod-level resources), 1.37.1.
func fitLoad(pod *v1.Pod) *model.Resources {
	if !resourcehelper.IsPodLevelRequestsSet(pod) {
		return nil
	}
	list := sumRequests(pod, resourcehelper.PodResourcesOptions{
		SkipPodLevelResources: true,
		NonMissingContainerRequests: v1.ResourceList{
			v1.ResourceCPU:    *resource.NewMilliQuantity(model.DefaultCPUEstimate, resource.DecimalSI),
			v1.ResourceMemory: *resource.NewQuantity(model.DefaultMemoryEstimate, resource.DecimalSI),
		},
	})
	var ignored problems // what is wrong with an amount is reported with the requests
	load := ignored.resources(requestsPath, list)
	return &load
}

// sumRequests is resourcehelper.PodRequests, which adds the overhead to the
// pod's own spec.resources where both are there and an amount is too fine or too
// large for an int64.
func sumRequests(pod *v1.Pod, options resourcehelper.PodResourcesOptions) v1.ResourceList {
	return resourcehelper.PodRequests(withOwnResources(pod), options)
}

// withOwnResources returns the pod for one who may change what it requests as a whole.
func withOwnResources(pod *v1.Pod) *v1.Pod {
	if pod.Spec.Resources == nil || pod.Spec.Overhead == nil {
		return pod
	}
	own := *pod
	own.Spec.Resources = pod.Spec.Resources.DeepCopy()
	return &own
}

// assumed is what scoring assumes of a container that does not say how much it
// requests: of both CPU and memory or, where the pod as a whole requests
// something, of those that are requested nowhere.
func assumed(pod *v1.Pod, requests v1.ResourceList) v1.ResourceList {
	whole := resourcehelper.IsPodLevelRequestsSet(pod)
	list := make(v1.ResourceList, 2)
	if _, said := requests[v1.ResourceCPU]; !whole || !said {
		list[v1.ResourceCPU] = *resource.NewMilliQuantity(model.DefaultCPUEstimate, resource.DecimalSI)
	}
	if _, said := requests[v1.ResourceMemory]; !whole || !said {
		list[v1.ResourceMemory] = *resource.NewQuantity(model.DefaultMemoryEstimate, resource.DecimalSI)
	}
	return list
}

// resources is the list in the model's units: thousandths for CPU, whole
// numbers for everything else, both rounded up. What the scheduler does not
// count is left out. The scalars are sorted by name.
func (p *problems) resources(at *field.Path, list v1.ResourceList) model.Resources {
	var r model.Resources
	for _, name := range slices.Sorted(maps.Keys(list)) {
		switch name {
		case v1.ResourceCPU:
			r.CPU = p.amount(at, list, name, resource.Milli)
		case v1.ResourceMemory:
			r.Memory = p.amount(at, list, name, 0)
		case v1.ResourceEphemeralStorage:
			r.EphemeralStorage = p.amount(at, list, name, 0)
		default:
			if isScalar(string(name)) {
				r.Scalars = append(r.Scalars, model.Scalar{Name: string(name), Amount: p.amount(at, list, name, 0)})
			}
		}
	}
	return r
}

// isScalar reports whether the scheduler counts a resource of the name, beside
// those with a field in [model.Resources]. Others (the number of pods,
// "storage", what quotas call "requests.cpu") may be requested, and no node is
// ever short of them.
//
// Rules: kube-scheduler pkg/scheduler/util/utils.go (IsScalarResourceName) and
// pkg/apis/core/v1/helper/helpers.go, 1.37.1.
func isScalar(name string) bool {
	switch {
	case !utf8.ValidString(name):
		return false
	case strings.HasPrefix(name, v1.ResourceHugePagesPrefix),
		strings.HasPrefix(name, v1.ResourceAttachableVolumesPrefix),
		strings.Contains(name, v1.ResourceDefaultNamespacePrefix):
		return true
	case !strings.Contains(name, "/"), strings.HasPrefix(name, v1.DefaultResourceRequestsPrefix):
		return false
	}
	// It must still be a name with the prefix that quotas put before it.
	return len(validation.IsQualifiedName(v1.DefaultResourceRequestsPrefix+name)) == 0
}

// amount is an amount of the list; what is wrong with it is reported.
func (p *problems) amount(at *field.Path, list v1.ResourceList, name v1.ResourceName, scale resource.Scale) int64 {
	n, problem := amount(list[name], scale)
	if problem != "" {
		q := list[name]
		p.report(at.Key(string(name)), "%s is %s", q.String(), problem)
	}
	return n
}

// amount is the quantity in units of the scale, rounded up. A problem is what is
// wrong with a quantity that is less than 0 or more than an int64 can hold; the
// amount is the nearest that is neither.
func amount(q resource.Quantity, scale resource.Scale) (n int64, problem string) {
	switch {
	case q.Sign() < 0:
		return 0, "less than 0"
	case q.Cmp(*resource.NewScaledQuantity(math.MaxInt64, scale)) > 0:
		return math.MaxInt64, "more than 64 bits can hold"
	}
	return q.ScaledValue(scale), ""
}
