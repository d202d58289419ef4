package helper

import (
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// DeviceClassFor returns the class whose devices can serve requests for the
// scalar resource, nil where there is none: that which says so, or the one that
// the resource is named after. (k8s.io/dynamic-resource-allocation
// deviceclass/extendedresourcecache/extendedresourcecache.go, 0.37.1.)
func DeviceClassFor(devices extpoints.Devices, resource string) *model.DeviceClass {
	if name, after := strings.CutPrefix(resource, model.DeviceClassResource); after {
		return devices.Class(name)
	}
	return devices.ClassFor(resource)
}

// IsExtendedResource reports whether the scalar is what Kubernetes calls an
// extended resource, or one named after a device class.
// (k8s.io/kubernetes pkg/apis/core/v1/helper/helpers.go IsExtendedResourceName,
// pkg/scheduler/util/utils.go IsDRAExtendedResourceName, 1.37.1.)
func IsExtendedResource(name string) bool {
	if strings.HasPrefix(name, model.DeviceClassResource) {
		return true
	}
	return strings.Contains(name, "/") && !strings.Contains(name, "kubernetes.io/") && !strings.HasPrefix(name, "requests.")
}

// DeviceResourcesUnsignable is why a workload is not signed whose scalar
// resources devices may serve.
const DeviceResourcesUnsignable = "signature disabled when scalar resources of device classes are used in the cluster"

// WantsDeviceResources reports whether the workload requests a scalar resource
// that the devices of a class can serve. The view is only asked for where there
// are scalars.
func WantsDeviceResources(view func() extpoints.ClusterView, w *model.Workload) bool {
	for _, s := range w.Requests.Scalars {
		if s.Amount != 0 && DeviceClassFor(view().Devices(), s.Name) != nil {
			return true
		}
	}
	return false
}
