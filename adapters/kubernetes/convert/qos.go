package convert

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/berth-project/berth/model"
)

// qos is the pod's class of service: as the API server has written it or, of a pod that
// has not been there, as it would be.
//
// Rules: pkg/apis/core/v1/helper/qos/qos.go (GetPodQOS, ComputePodQOS), 1.37.1.
func qos(p *v1.Pod) model.QoSClass {
	switch p.Status.QOSClass {
	case v1.PodQOSGuaranteed:
		return model.Guaranteed
	case v1.PodQOSBurstable:
		return model.Burstable
	case v1.PodQOSBestEffort:
		return model.BestEffort
	}
	var s qosSums
	if r := p.Spec.Resources; resourcehelper.IsPodLevelResourcesSet(p) {
		s.add(r.Requests, r.Limits, len(r.Limits) > 0)
	} else {
		for i := range p.Spec.Containers {
			r := &p.Spec.Containers[i].Resources
			s.add(r.Requests, r.Limits, true)
		}
		for i := range p.Spec.InitContainers {
			r := &p.Spec.InitContainers[i].Resources
			s.add(r.Requests, r.Limits, true)
		}
	}
	return s.class()
}

// qosResources are those that the class depends on.
var qosResources = [...]v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory}

// qosSums are sums over containers, by the index of the resource.
type qosSums struct {
	requests, limits [len(qosResources)]resource.Quantity
	unlimited        bool // a container has not a limit of each
}

// add adds a container, or the pod as a whole; limited: it should have a limit of each.
func (s *qosSums) add(requests, limits v1.ResourceList, limited bool) {
	for i, name := range qosResources {
		if q := requests[name]; q.Sign() > 0 {
			s.requests[i].Add(q)
		}
		if q := limits[name]; q.Sign() > 0 {
			s.limits[i].Add(q)
		} else if limited {
			s.unlimited = true
		}
	}
}

func (s *qosSums) class() model.QoSClass {
	best, guaranteed := true, !s.unlimited
	for i := range qosResources {
		request, limit := &s.requests[i], &s.limits[i]
		best = best && request.IsZero() && limit.IsZero()
		guaranteed = guaranteed && request.Cmp(*limit) == 0
	}
	switch {
	case best:
		return model.BestEffort
	case guaranteed:
		return model.Guaranteed
	}
	return model.Burstable
}
