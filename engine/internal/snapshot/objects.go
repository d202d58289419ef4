package snapshot

import (
	"slices"
	"strings"

	"github.com/berth-project/berth/model"
)

// PutObject adds the object, or puts it in place of the one of the same kind
// and ID. Queues, principals and limits are left out: nothing that is asked about
// nodes depends on them.
func (v *View) PutObject(o model.Object) {
	tok, kept := v.own(), v.kept(model.RefOf(o).Kind)
	if kept == nil {
		return
	}
	if old := kept.find(model.RefOf(o).ID); old != nil {
		v.storage.drop(tok, old)
		v.devices.drop(tok, old)
	}
	kept.put(tok, o)
	v.storage.add(tok, o)
	v.devices.add(tok, o)
	v.renewReported(o)
}

// RemoveObject removes the object of the same kind and ID, if there is one.
func (v *View) RemoveObject(like model.Object) {
	tok, kept := v.own(), v.kept(model.RefOf(like).Kind)
	if kept == nil {
		return
	}
	o := kept.find(model.RefOf(like).ID)
	if o == nil {
		return
	}
	v.storage.drop(tok, o)
	v.devices.drop(tok, o)
	kept.drop(tok, model.RefOf(o).ID)
	v.devices.removeSlice(tok, o)
	v.renewReported(o)
}

// renewReported gives the node that the object is a report of another version, see [View.Block].
func (v *View) renewReported(o model.Object) {
	switch o.(type) {
	case *model.NodeLoad, *model.NodeTopology:
		if place, ok := v.find(model.RefOf(o).ID); ok {
			v.change(place) // and changed has nothing to note: all that it is about stays as it is
		}
	}
}

// keptObjects are the objects of one kind, by ID.
type keptObjects interface {
	// find returns nil where there is none.
	find(id string) model.Object
	put(tok *token, o model.Object)
	drop(tok *token, id string)
}

// kept are the objects of the kind, nil for a kind that is left out.
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
	case model.QueueKind, model.PrincipalKind, model.LimitKind:
		return nil
	case model.HoldKind:
		return keptHolds{&v.holds}
	case model.NodeLoadKind:
		return keptAs[*model.NodeLoad]{&v.loads}
	case model.NodeTopologyKind:
		return keptAs[*model.NodeTopology]{&v.zones}
	case model.AppGraphKind:
		return keptAs[*model.AppGraph]{&v.apps}
	case model.NetworkCostsKind:
		return keptAs[*model.NetworkCosts]{&v.costs}
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

func (k keptAs[T]) put(tok *token, o model.Object) { k.m.set(tok, model.RefOf(o).ID, o.(T)) }

func (k keptAs[T]) drop(tok *token, id string) { k.m.unset(tok, id) }

// keptHolds are the holds, of which there are few and all are asked for at once.
type keptHolds struct{ l *list[*model.Hold] }

func (k keptHolds) find(id string) model.Object {
	i, found := slices.BinarySearchFunc(k.l.items, id, func(h *model.Hold, id string) int { return strings.Compare(h.Name, id) })
	if !found {
		return nil
	}
	return k.l.items[i]
}

func (k keptHolds) put(tok *token, o model.Object) { *k.l = k.l.set(tok, o.(*model.Hold), byID) }

func (k keptHolds) drop(tok *token, id string) {
	*k.l = k.l.unset(tok, &model.Hold{Name: id}, byID)
}
