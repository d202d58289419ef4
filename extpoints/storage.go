package extpoints

import (
	"context"

	"github.com/berth-project/berth/model"
)

// Storage is what a [ClusterView] knows of volumes: the objects as they were reported,
// with what has been decided since. It is shared and must not be changed. (More
// methods than most interfaces have: one for each kind of object.) Conformance:
// extpointstest.TestView.
type Storage interface {
	// Claim returns the claim with the ID, nil where there is none.
	Claim(id string) *model.VolumeClaim
	// Volume returns the volume with the name, nil where there is none.
	Volume(name string) *model.Volume
	// Volumes lists the volumes of the class, by name.
	Volumes(class string) []*model.Volume
	// Class returns the storage class with the name, nil where there is none.
	Class(name string) *model.StorageClass
	// Driver returns the storage driver with the name, nil where there is none.
	Driver(name string) *model.StorageDriver
	// NodeStorage returns that of the node, nil where there is none.
	NodeStorage(node string) *model.NodeStorage
	// Capacities lists the capacities of the class, by ID.
	Capacities(class string) []*model.StorageCapacity
	// Attachments lists the attachments to the node, by ID.
	Attachments(node string) []*model.VolumeAttachment
	// Users is how many workloads on nodes use the claim with the ID.
	Users(claim string) int
}

// VolumeBinder is an [Orchestrator] that gives claims their volumes. One that is
// not is taken to need no call for that: what was decided is true once the
// workload is bound.
type VolumeBinder interface {
	Orchestrator
	// BindVolumes makes true what was decided about the volumes and claims in
	// b.Decided, in which capacities are left out: a volume with a Claim is to be bound to it, a claim with a
	// SelectedNode is to get a volume that is made for the node. It is called
	// on binding goroutines before Bind, several at once, and may block until
	// ctx ends. It returns when the claims are bound. An error means that they
	// are not, and it may be called again for the same claims.
	//
	// From the call on the volumes belong to the claims, whatever becomes of the
	// workload and of the binding: until a volume or claim is reported, or the error is
	// ErrNotWritten. With any other error some may be written and others not, so the
	// orchestrator has to look, and to report each of them. A report that comes after
	// the call has ended must not be older than what the call wrote; reports that come
	// during the call may be. What is written stays: the next attempt goes on from there.
	BindVolumes(ctx context.Context, w *model.Workload, b model.Binding) error
}
