package explain

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

// setDefaults gives a pod that has not been through the API server what that fills in,
// as far as scheduling reads it.
//
// Rules: kube-apiserver pkg/apis/core/v1/defaults.go (SetDefaults_Pod,
// SetDefaults_PodSpec, defaultHugePagePodLimits, defaultPodRequests), 1.37.1.
func setDefaults(p *v1.Pod) {
	if p.Spec.SchedulerName == "" {
		p.Spec.SchedulerName = v1.DefaultSchedulerName
	}
	for _, containers := range [][]v1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			c := &containers[i]
			c.Resources.Requests = withMissing(c.Resources.Requests, c.Resources.Limits, anyResource)
			for j := range c.Ports {
				if p.Spec.HostNetwork && c.Ports[j].HostPort == 0 {
					c.Ports[j].HostPort = c.Ports[j].ContainerPort
				}
			}
		}
	}
	setPodRequests(p)
}

// setPodRequests completes the requests of a pod that says some of what it takes as a
// whole.
func setPodRequests(p *v1.Pod) {
	whole := p.Spec.Resources
	if whole == nil || len(whole.Limits) == 0 && len(whole.Requests) == 0 {
		return
	}
	limits := resource.AggregateContainerLimits(p, resource.PodResourcesOptions{})
	whole.Limits = withMissing(whole.Limits, limits, func(name v1.ResourceName) bool {
		_, requested := whole.Requests[name]
		return isHugePages(name) && !requested
	})
	if len(whole.Limits) == 0 {
		return
	}
	requests := resource.AggregateContainerRequests(p, resource.PodResourcesOptions{})
	whole.Requests = withMissing(whole.Requests, requests, func(name v1.ResourceName) bool {
		return resource.IsSupportedPodLevelResource(name) && !isHugePages(name)
	})
	whole.Requests = withMissing(whole.Requests, whole.Limits, resource.IsSupportedPodLevelResource)
}

// withMissing is the list with what it lacks of the other.
func withMissing(list, other v1.ResourceList, wanted func(v1.ResourceName) bool) v1.ResourceList {
	for name, amount := range other {
		if _, has := list[name]; has || !wanted(name) {
			continue
		}
		if list == nil {
			list = v1.ResourceList{}
		}
		list[name] = amount.DeepCopy()
	}
	return list
}

func anyResource(v1.ResourceName) bool { return true }

// isHugePages reports whether the resource is huge pages of some size. Of the
// resources that a pod may ask for as a whole these alone cannot be overcommitted.
func isHugePages(name v1.ResourceName) bool {
	return resource.IsSupportedPodLevelResource(name) && name != v1.ResourceCPU && name != v1.ResourceMemory
}
