package convert

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/model"
)

// parts are the containers with what each requests, for a pod that requests
// something that devices may serve, and for one that is guaranteed what it requests,
// where that is more than one container's: nodes may align each container by itself. None
// for any other.
//
// Rules: kube-scheduler plugins/dynamicresources/extendeddynamicresources.go
// (createRequestsAndMappings), 1.37.1.
func (p *problems) parts(s *v1.PodSpec, class model.QoSClass) []model.Container {
	extended := func(c v1.Container) bool {
		for name := range c.Resources.Requests {
			if isExtended(string(name)) {
				return true
			}
		}
		return false
	}
	apart := class == model.Guaranteed && (len(s.InitContainers)+len(s.Containers) > 1 || s.Overhead != nil || s.Resources != nil)
	if !apart && !slices.ContainsFunc(s.InitContainers, extended) && !slices.ContainsFunc(s.Containers, extended) {
		return nil
	}
	list := make([]model.Container, 0, len(s.InitContainers)+len(s.Containers))
	var reported problems // with the sum of the requests
	add := func(c *v1.Container, startup bool) {
		list = append(list, model.Container{Name: p.text(containersPath, c.Name), Startup: startup, Requests: reported.resources(requestsPath, c.Resources.Requests)})
	}
	for i := range s.InitContainers {
		add(&s.InitContainers[i], !isSidecar(&s.InitContainers[i]))
	}
	for i := range s.Containers {
		add(&s.Containers[i], false)
	}
	return list
}

// isExtended reports whether devices may serve requests for the resource.
//
// Rules: kube-scheduler pkg/scheduler/util/utils.go (IsDRAExtendedResourceName)
// and pkg/apis/core/v1/helper/helpers.go, 1.37.1.
func isExtended(name string) bool {
	if strings.HasPrefix(name, model.DeviceClassResource) {
		return true
	}
	return isScalar(name) && !strings.Contains(name, v1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(name, v1.ResourceHugePagesPrefix) && !strings.HasPrefix(name, v1.ResourceAttachableVolumesPrefix)
}
