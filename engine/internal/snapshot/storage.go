package snapshot

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// storage is what a View knows of volumes. It implements [extpoints.Storage].
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

var _ extpoints.Storage = (*storage)(nil)

func (s *storage) Claim(id string) *model.VolumeClaim {
	c, _ := s.claims.get(id)
	return c
}

func (s *storage) Volume(name string) *model.Volume {
	v, _ := s.volumes.get(name)
	return v
}

func (s *storage) Class(name string) *model.StorageClass {
	c, _ := s.classes.get(name)
	return c
}

func (s *storage) Driver(name string) *model.StorageDriver {
	d, _ := s.drivers.get(name)
	return d
}

func (s *storage) NodeStorage(node string) *model.NodeStorage {
	n, _ := s.nodes.get(node)
	return n
}

func (s *storage) Volumes(class string) []*model.Volume { return s.byClass.get(class) }

func (s *storage) Capacities(class string) []*model.StorageCapacity {
	return s.capacities.get(class)
}

func (s *storage) Attachments(node string) []*model.VolumeAttachment {
	return s.attachments.get(node)
}

func (s *storage) Users(claim string) int {
	n, _ := s.users.get(claim)
	return n
}

// add puts the object of storage into the lists that it belongs in
// because of what it says.
func (s *storage) add(tok *token, o model.Object) {
	switch o := o.(type) {
	case *model.Volume:
		s.byClass.set(tok, o.Class, o, byID)
	case *model.StorageCapacity:
		s.capacities.set(tok, o.Class, o, byID)
	case *model.VolumeAttachment:
		s.attachments.set(tok, o.Node, o, byID)
	}
}

// drop takes the object of storage out of the lists that it is in because
// of what it says.
func (s *storage) drop(tok *token, o model.Object) {
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
func (s *storage) countUsers(tok *token, w *extpoints.WorkloadInfo, by int32) {
	for i := range w.VolumeClaims {
		id := w.VolumeClaims[i].ID
		n, _ := s.users.get(id)
		if n += int(by); n == 0 {
			s.users.unset(tok, id)
		} else {
			s.users.set(tok, id, n)
		}
	}
}
