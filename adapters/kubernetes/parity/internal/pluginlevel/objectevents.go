package pluginlevel

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// objectChanged: an object of storage or devices comes, changes or goes. Nobody
// is told, so that plugins see the others as they are.
func (c *comparison) objectChanged(h *happening) {
	drawn := c.AnyObject()
	if len(drawn) == 0 {
		c.nodeAdded(h)
		return
	}
	object := drawn[0]
	old := c.Twin.Reference.Get(object)
	switch {
	case old == nil:
		c.objectEvent(h, nil, object)
	case c.Percent(20):
		c.objectEvent(h, old, nil)
	case c.Percent(20):
		c.objectEvent(h, nil, old)
	default:
		c.objectEvent(h, old, object)
	}
}

// objectEvent is the event of an object that was old and is new, each nil where
// there is none.
func (c *comparison) objectEvent(h *happening, old, new runtime.Object) {
	ref := fwk.ClusterEvent{ActionType: fwk.Update}
	sub := extpoints.ClusterEvent{Action: extpoints.Update}
	switch {
	case old == nil:
		ref.ActionType, sub.Action = fwk.Add, extpoints.Add
	case new == nil:
		ref.ActionType, sub.Action = fwk.Delete, extpoints.Delete
	}
	if old != nil {
		h.old, h.change.OldObject = old, c.ModelObject(old)
		ref.Resource, sub.Resource = resourceOf(old), model.RefOf(h.change.OldObject).Kind
	}
	if new != nil {
		h.new, h.change.NewObject = new, c.ModelObject(new)
		ref.Resource, sub.Resource = resourceOf(new), model.RefOf(h.change.NewObject).Kind
	}
	if ref.Resource == fwk.ResourceSlice && sub.Resource == model.DeviceTaintRuleKind {
		// Both sides tell of the slices whose taints change.
		ref.ActionType = fwk.Update
		sub = extpoints.ClusterEvent{Resource: model.DeviceSliceKind, Action: extpoints.Update}
	}
	h.refEvents, h.subEvents = []fwk.ClusterEvent{ref}, []extpoints.ClusterEvent{sub}
}

func resourceOf(object runtime.Object) fwk.EventResource {
	switch object.(type) {
	case *v1.PersistentVolumeClaim:
		return fwk.PersistentVolumeClaim
	case *v1.PersistentVolume:
		return fwk.PersistentVolume
	case *storagev1.StorageClass:
		return fwk.StorageClass
	case *storagev1.CSIDriver:
		return fwk.CSIDriver
	case *storagev1.CSINode:
		return fwk.CSINode
	case *storagev1.CSIStorageCapacity:
		return fwk.CSIStorageCapacity
	case *storagev1.VolumeAttachment:
		return fwk.VolumeAttachment
	case *resourcev1.ResourceSlice:
		return fwk.ResourceSlice
	case *resourcev1.ResourceClaim:
		return fwk.ResourceClaim
	case *resourcev1.DeviceClass:
		return fwk.DeviceClass
	case *resourcev1.DeviceTaintRule: // kube-scheduler sees the slices change
		return fwk.ResourceSlice
	}
	panic(fmt.Sprintf("pluginlevel: no event for %T", object))
}
