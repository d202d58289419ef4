package snapshot

import (
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

// addStorage puts the object of storage into the lists that it belongs in
// because of what it says.
func (v *View) addStorage(o model.Object) {
	tok, s := v.own(), &v.storage
	switch o := o.(type) {
	case *model.Volume:
		s.byClass.set(tok, o.Class, o, byID)
	case *model.StorageCapacity:
		s.capacities.set(tok, o.Class, o, byID)
	case *model.VolumeAttachment:
		s.attachments.set(tok, o.Node, o, byID)
	}
}

// dropStorage takes the object of storage out of the lists that it is in because
// of what it says.
func (v *View) dropStorage(o model.Object) {
	tok, s := v.own(), &v.storage
	switch o := o.(type) {
	case *model.Volume:
		s.byClass.unset(tok, o.Class, o, byID)
	case *model.StorageCapacity:
		s.capacities.unset(tok, o.Class, o, byID)
	case *model.VolumeAttachment:
		s.attachments.unset(tok, o.Node, o, byID)
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
