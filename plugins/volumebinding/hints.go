package volumebinding

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister asks for all that says which volumes there are, which can be
// made, and from where they can be used.
//
// The reference misses some changes that let a workload in. A few cannot be made
// there: another provisioner, binding mode, or class of a capacity. The others are
// the deletion of a volume that was kept for a claim of the workload, which may then
// have another one; a driver that no longer keeps track of its capacity, or is gone,
// if the workload has claims (the reference looks for the driver among the volumes
// that the workload names itself); and the deletion of the NodeStorage that lists a
// node's migrated in-tree plugins. Here they wake it too, unless the engine is told
// to keep to the reference ([extpoints.KubeScheduler137]).
func (p *VolumeBinding) EventsToRegister() ([]extpoints.EventHint, error) {
	const comes = extpoints.Add | extpoints.Update
	hints := []extpoints.EventHint{
		helper.On(model.StorageClassKind, comes, p.afterClassChange),
		helper.On(model.VolumeClaimKind, comes, afterClaimChange),
		helper.On(model.VolumeKind, comes, nil),
		helper.On(extpoints.NodeResource, extpoints.Add|extpoints.UpdateNodeLabel, nil),
		helper.On(model.NodeStorageKind, comes, afterNodeStorageChange),
		helper.On(model.StorageDriverKind, extpoints.Update, p.afterDriverChange),
		helper.On(model.StorageCapacityKind, comes, p.afterCapacityChange),
	}
	if p.compat == extpoints.Improved {
		hints = append(hints,
			helper.On(model.VolumeKind, extpoints.Delete, afterVolumeIsGone),
			helper.On(model.NodeStorageKind, extpoints.Delete, afterNodeStorageIsGone),
			helper.On(model.StorageDriverKind, extpoints.Delete, p.afterDriverChange))
	}
	return hints, nil
}

// afterClassChange says Queue for a new class, and for one that allows other
// nodes.
func (p *VolumeBinding) afterClassChange(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := extpoints.ObjectsOf[*model.StorageClass](c)
	if after == nil {
		return extpoints.HintQueue, helper.ErrNoObject
	}
	return helper.QueueIf(before == nil || !sameTerms(before.AllowedNodes, after.AllowedNodes) ||
		p.compat == extpoints.Improved && (before.Provisioner != after.Provisioner || before.Binding != after.Binding))
}

// afterClaimChange says Queue for the workload's own claims.
func afterClaimChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	_, after := extpoints.ObjectsOf[*model.VolumeClaim](c)
	if after == nil {
		return extpoints.HintQueue, helper.ErrNoObject
	}
	return helper.QueueIf(helper.UsesClaim(w, after.ID, true))
}

// afterVolumeIsGone says Queue where the volume was kept for one of the
// workload's claims.
func afterVolumeIsGone(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, _ := extpoints.ObjectsOf[*model.Volume](c)
	if before == nil {
		return extpoints.HintQueue, helper.ErrNoObject
	}
	return helper.QueueIf(before.Claim != nil && helper.UsesClaim(w, before.Claim.ID, true))
}

// afterNodeStorageChange says Queue where drivers stand in for other plugins
// than before, or nothing was known of that.
func afterNodeStorageChange(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := extpoints.ObjectsOf[*model.NodeStorage](c)
	if after == nil {
		return extpoints.HintQueue, helper.ErrNoObject
	}
	return helper.QueueIf(before == nil || !slices.Equal(before.StandsIn, after.StandsIn))
}

// afterNodeStorageIsGone says Queue where drivers stood in for plugins.
func afterNodeStorageIsGone(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, _ := extpoints.ObjectsOf[*model.NodeStorage](c)
	if before == nil {
		return extpoints.HintQueue, helper.ErrNoObject
	}
	return helper.QueueIf(len(before.StandsIn) > 0)
}

// afterDriverChange says Queue where the driver no longer keeps track of its
// capacity, and the workload may have a volume of it.
func (p *VolumeBinding) afterDriverChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := extpoints.ObjectsOf[*model.StorageDriver](c)
	if before == nil {
		return extpoints.HintQueue, helper.ErrNoObject
	}
	if !before.TracksCapacity || after != nil && after.TracksCapacity {
		return extpoints.HintSkip, nil
	}
	return helper.QueueIf(p.compat == extpoints.Improved && len(w.VolumeClaims) > 0 ||
		slices.ContainsFunc(w.Disks, func(d model.Disk) bool { return d.Driver == before.Name && d.Plugin == "" }))
}

// afterCapacityChange says Queue where there is more room than before, or where
// it is for other nodes or another class.
func (p *VolumeBinding) afterCapacityChange(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := extpoints.ObjectsOf[*model.StorageCapacity](c)
	switch {
	case after == nil:
		return extpoints.HintQueue, helper.ErrNoObject
	case before == nil:
		return extpoints.HintQueue, nil
	}
	was, is := largestVolume(before), largestVolume(after)
	return helper.QueueIf(is != nil && (was == nil || *is > *was) || takenOf(after, "") < takenOf(before, "") ||
		p.compat == extpoints.Improved && (before.Class != after.Class || !sameSelector(before.Nodes, after.Nodes)))
}

func sameTerms(a, b *model.NodeTerms) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Terms, b.Terms, func(x, y model.NodeTerm) bool {
		return sameRequirements(x.Labels, y.Labels) && sameRequirements(x.Fields, y.Fields)
	})
}

func sameSelector(a, b *model.Selector) bool {
	if a == nil || b == nil {
		return a == b
	}
	return sameRequirements(a.Requirements, b.Requirements)
}

func sameRequirements(a, b []model.Requirement) bool {
	return slices.EqualFunc(a, b, func(x, y model.Requirement) bool {
		return x.Key == y.Key && x.Operator == y.Operator && slices.Equal(x.Values, y.Values)
	})
}
