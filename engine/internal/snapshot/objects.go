package snapshot

import (
	"strings"

	"github.com/berth-project/berth/model"
)

// PutObject adds the object, or puts it in place of the one of the same kind
// and ID.
func (v *View) PutObject(o model.Object) {
	tok, kept := v.own(), v.kept(o.ObjectKind())
	if old := kept.find(o.ObjectID()); old != nil {
		v.dropStorage(old)
		v.dropDevices(old)
	}
	kept.put(tok, o)
	v.addStorage(o)
	v.addDevices(o)
}

// RemoveObject removes the object of the same kind and ID, if there is one.
func (v *View) RemoveObject(like model.Object) {
	tok, kept := v.own(), v.kept(like.ObjectKind())
	o := kept.find(like.ObjectID())
	if o == nil {
		return
	}
	v.dropStorage(o)
	v.dropDevices(o)
	kept.drop(tok, o.ObjectID())
	v.removeSlice(o)
}

// keptObjects are the objects of one kind, by ID.
type keptObjects interface {
	// find returns nil where there is none.
	find(id string) model.Object
	put(tok *token, o model.Object)
	drop(tok *token, id string)
}

// kept are the objects of the kind.
func (v *View) kept(kind model.ObjectKind) keptObjects {
	s, d := &v.storage, &v.devices
	switch kind {
	case model.VolumeClaimKind:
		return keptAs[*model.VolumeClaim]{&s.claims}
	case model.VolumeKind:
		return keptAs[*model.Volume]{&s.volumes}
	case model.StorageClassKind:
		return keptAs[*model.StorageClass]{&s.classes}
	case model.StorageDriverKind:
		return keptAs[*model.StorageDriver]{&s.drivers}
	case model.NodeStorageKind:
		return keptAs[*model.NodeStorage]{&s.nodes}
	case model.StorageCapacityKind:
		return keptAs[*model.StorageCapacity]{&s.capacityByID}
	case model.VolumeAttachmentKind:
		return keptAs[*model.VolumeAttachment]{&s.attachmentByID}
	case model.DeviceClaimKind:
		return keptAs[*model.DeviceClaim]{&d.claims}
	case model.DeviceClassKind:
		return keptAs[*model.DeviceClass]{&d.classes}
	case model.DeviceSliceKind:
		return keptAs[*model.DeviceSlice]{&d.sliceByID}
	case model.DeviceTaintRuleKind:
		return keptAs[*model.DeviceTaintRule]{&d.ruleByID}
	}
	panic("snapshot: no objects of kind " + string(kind))
}

// keptAs are objects of one kind in a map of their own type.
type keptAs[T model.Object] struct{ m *pmap[T] }

func (k keptAs[T]) find(id string) model.Object {
	if o, ok := k.m.get(id); ok {
		return o
	}
	return nil
}

func (k keptAs[T]) put(tok *token, o model.Object) { k.m.set(tok, o.ObjectID(), o.(T)) }

func (k keptAs[T]) drop(tok *token, id string) { k.m.unset(tok, id) }

// byID is the order of lists of objects.
func byID[T model.Object](a, b T) int { return strings.Compare(a.ObjectID(), b.ObjectID()) }
