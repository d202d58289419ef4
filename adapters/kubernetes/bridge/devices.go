package bridge

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/labels"
	resourcelisters "k8s.io/client-go/listers/resource/v1"
	"k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache"
	fwk "k8s.io/kube-scheduler/framework"
)

// devices is what plugins can know of classes of devices, by the informers. The books of
// claims are the engine's.
type devices struct {
	once    sync.Once
	lister  resourcelisters.DeviceClassLister
	byNames *extendedresourcecache.ExtendedResourceCache
}

var _ fwk.SharedDRAManager = (*devices)(nil)

// SharedDRAManager implements [fwk.Handle]: classes of devices, as the informers have them, so
// on a branch too as they are now. Claims and slices are not served.
func (h *handle) SharedDRAManager() fwk.SharedDRAManager {
	d := &h.host.devices
	d.once.Do(func() {
		classes := h.host.opts.Informers.Resource().V1().DeviceClasses()
		d.lister = classes.Lister()
		d.byNames = extendedresourcecache.NewExtendedResourceCache(h.host.log)
		if _, err := classes.Informer().AddEventHandler(d.byNames); err != nil {
			h.host.log.Error(err, "Classes of devices cannot be watched for kube-scheduler's plugins") // the informer has been stopped
		}
	})
	return d
}

// ResourceClaims implements [fwk.SharedDRAManager].
func (*devices) ResourceClaims() fwk.ResourceClaimTracker {
	unserved("SharedDRAManager().ResourceClaims", "the engine keeps the books of device claims")
	return nil
}

// ResourceSlices implements [fwk.SharedDRAManager].
func (*devices) ResourceSlices() fwk.ResourceSliceLister {
	unserved("SharedDRAManager().ResourceSlices", "the engine keeps the books of device claims")
	return nil
}

// DeviceClasses implements [fwk.SharedDRAManager].
func (d *devices) DeviceClasses() fwk.DeviceClassLister { return d }

// List implements [fwk.DeviceClassLister].
func (d *devices) List() ([]*resourcev1.DeviceClass, error) {
	return d.lister.List(labels.Everything())
}

// Get implements [fwk.DeviceClassLister].
func (d *devices) Get(name string) (*resourcev1.DeviceClass, error) { return d.lister.Get(name) }

// DeviceClassResolver implements [fwk.SharedDRAManager].
func (d *devices) DeviceClassResolver() fwk.DeviceClassResolver { return d }

// GetDeviceClass implements [fwk.DeviceClassResolver].
func (d *devices) GetDeviceClass(resource v1.ResourceName) *resourcev1.DeviceClass {
	return d.byNames.GetDeviceClass(resource)
}
