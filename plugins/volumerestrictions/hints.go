package volumerestrictions

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister asks for workloads that leave their node, for new nodes, and
// for claims that come.
//
// Three things the reference misses: a disk that becomes free because a
// workload of another namespace leaves, a claim that becomes free because a node
// goes and takes its workloads along, and (it cannot happen there) a claim that
// loses the access mode. Here they wake the workload too, unless the
// engine is told to keep to the reference ([extpoints.KubeScheduler137]).
func (p *VolumeRestrictions) EventsToRegister() ([]extpoints.EventHint, error) {
	list := []extpoints.EventHint{
		helper.On(extpoints.AssignedWorkload, extpoints.Delete, p.afterWorkloadDeleted),
		helper.On(extpoints.NodeResource, extpoints.Add, nil),
		helper.On(model.VolumeClaimKind, extpoints.Add, afterClaimChange),
	}
	if p.compat == extpoints.Improved {
		list = append(list,
			helper.On(extpoints.NodeResource, extpoints.Delete, afterNodeDeleted),
			helper.On(model.VolumeClaimKind, extpoints.Update, afterClaimChange),
		)
	}
	return list, nil
}

// afterNodeDeleted says Queue to workloads with claims. Disks are of no use
// without their node.
func afterNodeDeleted(w *model.Workload, _ *extpoints.Event) (extpoints.Hint, error) {
	if slices.ContainsFunc(w.VolumeClaims, func(r model.VolumeClaimRef) bool { return !r.Generated }) {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// afterWorkloadDeleted says Queue where the one that is gone had a disk that w
// wants, or one of its claims. Whether only one may use the claim is not asked.
func (p *VolumeRestrictions) afterWorkloadDeleted(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	gone, err := helper.DeletedWorkload(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	if p.compat == extpoints.KubeScheduler137 && gone.Namespace != w.Namespace {
		return extpoints.HintSkip, nil
	}
	used := func(ref model.VolumeClaimRef) bool { return !ref.Generated && helper.UsesClaim(w, ref.ID, false) }
	if conflict(w.Disks, gone.Disks) || slices.ContainsFunc(gone.VolumeClaims, used) {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// afterClaimChange says Queue for a claim of the workload that comes, or that
// several workloads may use from now on.
func afterClaimChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := extpoints.ObjectsOf[*model.VolumeClaim](c)
	switch {
	case after == nil:
		return extpoints.HintQueue, helper.ErrNoObject
	case !helper.UsesClaim(w, after.ID, false), before != nil && (!isExclusive(before) || isExclusive(after)):
		return extpoints.HintSkip, nil
	}
	return extpoints.HintQueue, nil
}
