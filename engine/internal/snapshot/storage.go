package snapshot

import (
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// storage is what a View knows of volumes.
type storage struct {
	claims         pmap[*model.VolumeClaim]
	volumes        pmap[*model.Volume]
	classes        pmap[*model.StorageClass]
	drivers        pmap[*model.StorageDriver]
	nodes          pmap[*model.NodeStorage]
	byClass        lists[*model.Volume]           // by class
	capacities     lists[*model.StorageCapacity]  // by class
	attachments    lists[*model.VolumeAttachment] // by node
	capacityByID   pmap[*model.StorageCapacity]
	attachmentByID pmap[*model.VolumeAttachment]
	users          pmap[int] // workloads on nodes that are there, by claim
}

// storageView is a View as an [extpoints.Storage].
type storageView View

var _ extpoints.Storage = (*storageView)(nil)

// Storage are the volumes and the claims to them.
func (v *View) Storage() extpoints.Storage { return (*storageView)(v) }

func (s *storageView) Claim(id string) *model.VolumeClaim {
	c, _ := s.storage.claims.get(id)
	return c
}

func (s *storageView) Volume(name string) *model.Volume {
	v, _ := s.storage.volumes.get(name)
	return v
}

func (s *storageView) Class(name string) *model.StorageClass {
	c, _ := s.storage.classes.get(name)
	return c
}

func (s *storageView) Driver(name string) *model.StorageDriver {
	d, _ := s.storage.drivers.get(name)
	return d
}

func (s *storageView) NodeStorage(node string) *model.NodeStorage {
	n, _ := s.storage.nodes.get(node)
	return n
}

func (s *storageView) Volumes(class string) []*model.Volume { return s.storage.byClass.get(class) }

func (s *storageView) Capacities(class string) []*model.StorageCapacity {
	return s.storage.capacities.get(class)
}

func (s *storageView) Attachments(node string) []*model.VolumeAttachment {
	return s.storage.attachments.get(node)
}

func (s *storageView) Users(claim string) int {
	n, _ := s.storage.users.get(claim)
	return n
}

// byID is the order of lists of objects.
func byID[T model.Object](a, b T) int { return strings.Compare(a.ObjectID(), b.ObjectID()) }

// PutObject adds the object, or puts it in place of the one of the same kind
// and ID.
func (v *View) PutObject(o model.Object) {
	if old := v.object(o.ObjectKind(), o.ObjectID()); old != nil {
		v.dropFromLists(old)
	}
	tok, s := v.own(), &v.storage
	switch o := o.(type) {
	case *model.VolumeClaim:
		s.claims.set(tok, o.ID, o)
	case *model.Volume:
		s.volumes.set(tok, o.Name, o)
		s.byClass.set(tok, o.Class, o, byID)
	case *model.StorageClass:
		s.classes.set(tok, o.Name, o)
	case *model.StorageDriver:
		s.drivers.set(tok, o.Name, o)
	case *model.NodeStorage:
		s.nodes.set(tok, o.Node, o)
	case *model.StorageCapacity:
		s.capacityByID.set(tok, o.ID, o)
		s.capacities.set(tok, o.Class, o, byID)
	case *model.VolumeAttachment:
		s.attachmentByID.set(tok, o.ID, o)
		s.attachments.set(tok, o.Node, o, byID)
	default:
		v.putDevices(o)
	}
}

// RemoveObject removes the object of the same kind and ID, if there is one.
func (v *View) RemoveObject(like model.Object) {
	o := v.object(like.ObjectKind(), like.ObjectID())
	if o == nil {
		return
	}
	v.dropFromLists(o)
	tok, s := v.own(), &v.storage
	switch o := o.(type) {
	case *model.VolumeClaim:
		s.claims.unset(tok, o.ID)
	case *model.Volume:
		s.volumes.unset(tok, o.Name)
	case *model.StorageClass:
		s.classes.unset(tok, o.Name)
	case *model.StorageDriver:
		s.drivers.unset(tok, o.Name)
	case *model.NodeStorage:
		s.nodes.unset(tok, o.Node)
	case *model.StorageCapacity:
		s.capacityByID.unset(tok, o.ID)
	case *model.VolumeAttachment:
		s.attachmentByID.unset(tok, o.ID)
	default:
		v.removeDevices(o)
	}
}

// object returns the object of the kind and ID; nil where there is none.
func (v *View) object(kind model.ObjectKind, id string) model.Object {
	s := &v.storage
	switch kind {
	case model.VolumeClaimKind:
		return found(&s.claims, id)
	case model.VolumeKind:
		return found(&s.volumes, id)
	case model.StorageClassKind:
		return found(&s.classes, id)
	case model.StorageDriverKind:
		return found(&s.drivers, id)
	case model.NodeStorageKind:
		return found(&s.nodes, id)
	case model.StorageCapacityKind:
		return found(&s.capacityByID, id)
	case model.VolumeAttachmentKind:
		return found(&s.attachmentByID, id)
	}
	return v.device(kind, id)
}

// found returns what is under the key, as an object; a nil interface where
// there is nothing.
func found[T model.Object](m *pmap[T], id string) model.Object {
	if o, ok := m.get(id); ok {
		return o
	}
	return nil
}

// dropFromLists takes the object out of the lists that it is in because of what
// it says.
func (v *View) dropFromLists(o model.Object) {
	tok, s := v.own(), &v.storage
	switch o := o.(type) {
	case *model.Volume:
		s.byClass.unset(tok, o.Class, o, byID)
	case *model.StorageCapacity:
		s.capacities.unset(tok, o.Class, o, byID)
	case *model.VolumeAttachment:
		s.attachments.unset(tok, o.Node, o, byID)
	default:
		v.dropDevices(o)
	}
}

// countUsers counts the workload among the users of its claims, or where by is
// -1 no more.
func (v *View) countUsers(w *extpoints.WorkloadInfo, by int32) {
	for i := range w.VolumeClaims {
		id := w.VolumeClaims[i].ID
		n, _ := v.storage.users.get(id)
		if n += int(by); n == 0 {
			v.storage.users.unset(v.own(), id)
		} else {
			v.storage.users.set(v.own(), id, n)
		}
	}
}
