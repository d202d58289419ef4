package convert

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/berth-project/berth/model"
)

// usageLimits is the most that the pod may use, its overhead included: of each resource of
// which the pod as a whole has a limit, or all containers have one that run as long as the
// pod does. With one that has none, the pod has none. kube-scheduler does not look at limits;
// plugins that go by measured load do. So one that is out of range keeps no pod from being placed:
// the nearest in range is taken.
func usageLimits(pod *v1.Pod) model.Resources {
	if !hasLimits(&pod.Spec) {
		return model.Resources{}
	}
	list := resourcehelper.PodLimits(withOwnResources(pod), resourcehelper.PodResourcesOptions{})
	for name := range list {
		if !limited(&pod.Spec, name) {
			delete(list, name)
		}
	}
	var ignored problems
	return ignored.resources(field.NewPath("limits"), list)
}

func hasLimits(s *v1.PodSpec) bool {
	return s.Resources != nil && len(s.Resources.Limits) > 0 ||
		slices.ContainsFunc(s.Containers, func(c v1.Container) bool { return len(c.Resources.Limits) > 0 })
}

// limited reports whether the pod has a limit of the resource; 0 is none.
func limited(s *v1.PodSpec, name v1.ResourceName) bool {
	if s.Resources != nil && isSet(s.Resources.Limits, name) {
		return true
	}
	for i := range s.InitContainers {
		if c := &s.InitContainers[i]; isSidecar(c) && !isSet(c.Resources.Limits, name) {
			return false
		}
	}
	return !slices.ContainsFunc(s.Containers, func(c v1.Container) bool { return !isSet(c.Resources.Limits, name) })
}

func isSet(list v1.ResourceList, name v1.ResourceName) bool {
	q, ok := list[name]
	return ok && !q.IsZero()
}
