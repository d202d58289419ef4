package nodevolumelimits

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister asks for nodes that get storage drivers or higher limits,
// workloads that leave their node, claims of the workload that come, and volumes
// that are detached.
//
// Some changes that also make room the reference misses: a node that
// comes and does not say what it has, or no longer does, a limit that is lifted,
// a driver without a limit that is installed, one that need not be installed any
// more, a claim of the workload that gets a volume, a node that comes to use its
// volumes, so that they are no further ones there, and, for workloads whose
// claims are all made for them, volumes that are detached. Here they wake it too,
// unless the engine is told to
// keep to the reference ([extpoints.KubeScheduler137]). What happens to other workloads'
// claims, of volumes and of classes wakes nobody; that hardly changes what
// counts.
func (p *NodeVolumeLimits) EventsToRegister() ([]extpoints.EventHint, error) {
	list := []extpoints.EventHint{
		helper.On(model.NodeStorageKind, extpoints.Add, nil),
		helper.On(model.NodeStorageKind, extpoints.Update, p.afterNodeStorageUpdated),
		helper.On(extpoints.AssignedWorkload, extpoints.Delete, afterWorkloadDeleted),
		helper.On(model.VolumeClaimKind, extpoints.Add, afterClaimChange),
		helper.On(model.VolumeAttachmentKind, extpoints.Delete, p.afterDetached),
	}
	if p.compat == extpoints.Improved {
		list = append(list,
			helper.On(extpoints.NodeResource, extpoints.Add, nil),
			helper.On(extpoints.AssignedWorkload, extpoints.Add, afterWorkloadAdded),
			helper.On(model.NodeStorageKind, extpoints.Delete, nil),
			helper.On(model.StorageDriverKind, extpoints.Update|extpoints.Delete, afterDriverChange),
			helper.On(model.VolumeClaimKind, extpoints.Update, afterClaimChange),
		)
	}
	return list, nil
}

// afterNodeStorageUpdated says Queue for a node on which a driver may have more
// volumes than before. To the reference no limit is one of 0.
func (p *NodeVolumeLimits) afterNodeStorageUpdated(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := extpoints.ObjectsOf[*model.NodeStorage](c)
	if before == nil || after == nil {
		return extpoints.HintQueue, helper.ErrNoObject
	}
	for i := range after.Drivers {
		now := &after.Drivers[i]
		was := find(before, now.Name)
		switch {
		case limit(now) > limit(was):
			return extpoints.HintQueue, nil
		case p.compat == extpoints.KubeScheduler137:
		case was == nil, now.MaxVolumes == nil && was.MaxVolumes != nil:
			return extpoints.HintQueue, nil
		}
	}
	gone := func(d model.NodeDriver) bool { return d.MaxVolumes != nil && find(after, d.Name) == nil }
	if p.compat == extpoints.Improved && slices.ContainsFunc(before.Drivers, gone) {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

func find(s *model.NodeStorage, driver string) *model.NodeDriver {
	for i := range s.Drivers {
		if s.Drivers[i].Name == driver {
			return &s.Drivers[i]
		}
	}
	return nil
}

func limit(d *model.NodeDriver) int32 {
	if d == nil || d.MaxVolumes == nil {
		return 0
	}
	return *d.MaxVolumes
}

// afterWorkloadDeleted says Queue where the one that is gone may have had a
// volume that counts.
func afterWorkloadDeleted(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	gone, err := helper.DeletedWorkload(c)
	if err != nil || usesVolumes(gone.Workload) {
		return extpoints.HintQueue, err
	}
	return extpoints.HintSkip, nil
}

// afterWorkloadAdded says Queue where the one that comes to a node may use a volume
// of the workload: one of its claims, or a disk. That two claims, or a claim and a disk, are of one
// volume is left out: it takes volumes made by hand, and would wake most for each that comes.
func afterWorkloadAdded(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	if c.NewWorkload == nil {
		return extpoints.HintQueue, helper.ErrNoWorkload
	}
	shared := func(ref model.VolumeClaimRef) bool { return helper.UsesClaim(w, ref.ID, true) }
	if slices.ContainsFunc(c.NewWorkload.VolumeClaims, shared) || slices.ContainsFunc(c.NewWorkload.Disks, mayCount) {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// afterClaimChange says Queue for a claim of the workload that comes, or that
// changes in what it counts as.
func afterClaimChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := extpoints.ObjectsOf[*model.VolumeClaim](c)
	switch {
	case after == nil:
		return extpoints.HintQueue, helper.ErrNoObject
	case !helper.UsesClaim(w, after.ID, true):
		return extpoints.HintSkip, nil
	case before != nil && before.Volume == after.Volume && before.Class == after.Class && before.Owner == after.Owner:
		return extpoints.HintSkip, nil
	}
	return extpoints.HintQueue, nil
}

// afterDetached says Queue for workloads with claims, and for those with a disk
// of the driver. The reference leaves out claims that are made for one workload.
func (p *NodeVolumeLimits) afterDetached(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	gone, _ := extpoints.ObjectsOf[*model.VolumeAttachment](c)
	if gone == nil {
		return extpoints.HintQueue, helper.ErrNoObject
	}
	claims := func(r model.VolumeClaimRef) bool { return p.compat == extpoints.Improved || !r.Generated }
	disks := func(d model.Disk) bool { return mayCount(d) && d.Driver == gone.Driver }
	if slices.ContainsFunc(w.VolumeClaims, claims) || slices.ContainsFunc(w.Disks, disks) {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// afterDriverChange says Queue for a driver that need not be installed any more.
func afterDriverChange(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := extpoints.ObjectsOf[*model.StorageDriver](c)
	switch {
	case before == nil:
		return extpoints.HintQueue, helper.ErrNoObject
	case before.MustBeInstalled && (after == nil || !after.MustBeInstalled):
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}
