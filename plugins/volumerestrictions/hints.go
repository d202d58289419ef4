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
// Three things the reference sleeps through: a disk that becomes free because a
// workload of another namespace leaves, a claim that becomes free because a node
// goes and takes its workloads along, and (it cannot happen there) a claim that
// loses the access mode. Here they wake the workload too, unless
// Args.ReferenceHints says otherwise.
func (p *VolumeRestrictions) EventsToRegister() ([]extpoints.EventHint, error) {
	event := func(r extpoints.Resource, a extpoints.Action, hint extpoints.HintFunc) extpoints.EventHint {
		return extpoints.EventHint{Event: extpoints.ClusterEvent{Resource: r, Action: a}, Hint: hint}
	}
	list := []extpoints.EventHint{
		event(extpoints.AssignedWorkload, extpoints.Delete, p.afterWorkloadDeleted),
		event(extpoints.NodeResource, extpoints.Add, nil),
		event(extpoints.VolumeClaimResource, extpoints.Add, afterClaimChange),
	}
	if !p.referenceHints {
		list = append(list,
			event(extpoints.NodeResource, extpoints.Delete, afterNodeDeleted),
			event(extpoints.VolumeClaimResource, extpoints.Update, afterClaimChange),
		)
	}
	return list, nil
}

// afterNodeDeleted says Queue to workloads with claims. Disks are of no use
// without their node.
func afterNodeDeleted(w *model.Workload, _ *extpoints.Change) (extpoints.Hint, error) {
	if slices.ContainsFunc(w.VolumeClaims, func(r model.VolumeClaimRef) bool { return !r.Generated }) {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// afterWorkloadDeleted says Queue where the one that is gone had a disk that w
// wants, or one of its claims. Whether only one may use the claim is not asked.
func (p *VolumeRestrictions) afterWorkloadDeleted(w *model.Workload, c *extpoints.Change) (extpoints.Hint, error) {
	gone, err := helper.DeletedWorkload(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	if p.referenceHints && gone.Namespace != w.Namespace {
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
func afterClaimChange(w *model.Workload, c *extpoints.Change) (extpoints.Hint, error) {
	before, after := extpoints.ObjectsOf[*model.VolumeClaim](c)
	switch {
	case after == nil:
		return extpoints.HintQueue, helper.ErrNoObject
	case !helper.UsesClaim(w, after.ID, false), before != nil && (!isExclusive(before) || isExclusive(after)):
		return extpoints.HintSkip, nil
	}
	return extpoints.HintQueue, nil
}
