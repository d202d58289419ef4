package generate

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// AnyStorageObject draws an object of storage: one of the names that there are,
// as it may be now.
func (s *Source) AnyStorageObject(node string) runtime.Object {
	switch s.IntN(10) {
	case 0:
		return s.StorageClass(s.IntN(len(storageClasses) - 1))
	case 1:
		return s.StorageDriver(s.IntN(len(storageDrivers)))
	case 2, 3:
		return s.NodeStorage(node)
	case 4:
		return s.StorageCapacity(s.IntN(s.Zones))
	case 5:
		return s.VolumeAttachment(s.IntN(6), node)
	case 6, 7:
		return s.Volume(s.IntN(volumeNames))
	}
	return s.VolumeClaim(s.IntN(claimNames))
}

// Revise returns a drawn object with what an API server never lets change from
// the old one, which is of the same kind and name.
func Revise(old, drawn runtime.Object) runtime.Object {
	switch d := drawn.(type) {
	case *storagev1.StorageClass:
		o := old.(*storagev1.StorageClass)
		d.Provisioner, d.VolumeBindingMode = o.Provisioner, o.VolumeBindingMode
	case *storagev1.CSIStorageCapacity:
		o := old.(*storagev1.CSIStorageCapacity)
		d.StorageClassName, d.NodeTopology = o.StorageClassName, o.NodeTopology
	case *storagev1.VolumeAttachment:
		d.Spec = old.(*storagev1.VolumeAttachment).Spec
	case *v1.PersistentVolume:
		o := old.(*v1.PersistentVolume)
		d.Spec.PersistentVolumeSource, d.Spec.ClaimRef, d.Spec.Capacity = o.Spec.PersistentVolumeSource, o.Spec.ClaimRef, o.Spec.Capacity
		if o.Spec.GCEPersistentDisk != nil {
			d.Labels = o.Labels
		}
		if o.Spec.NodeAffinity != nil {
			d.Spec.NodeAffinity = o.Spec.NodeAffinity
		}
		if o.Status.Phase == v1.VolumeBound {
			d.Status.Phase = o.Status.Phase
		}
	case *v1.PersistentVolumeClaim:
		o := old.(*v1.PersistentVolumeClaim)
		requests := d.Spec.Resources
		d.Spec = *o.Spec.DeepCopy()
		if d.Spec.VolumeName == "" {
			d.Spec.Resources = requests
		} else {
			d.Annotations, d.Status = o.Annotations, o.Status
		}
	case *storagev1.CSIDriver, *storagev1.CSINode: // everything may change
	default:
		panic(fmt.Sprintf("generate: not revised: %T", drawn))
	}
	return drawn
}
