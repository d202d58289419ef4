package dynamicresources

import (
	"errors"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister names what can make a rejected workload feasible: nodes from
// which devices can be used, claims that come or give their devices back, and
// classes, slices and devices without their taints. The end of a slice does so too,
// where it had made its pool invalid, and that of a class that served a scalar
// which nodes have themselves: kube-scheduler sleeps through these
// (dynamicresources.go EventsToRegister, 1.37.1).
func (p *DynamicResources) EventsToRegister() ([]extpoints.EventHint, error) {
	on := func(r extpoints.Resource, a extpoints.Action, hint extpoints.HintFunc) extpoints.EventHint {
		return extpoints.EventHint{Event: extpoints.ClusterEvent{Resource: r, Action: a}, Hint: hint}
	}
	stock := extpoints.Add | extpoints.Update
	if !p.referenceHints {
		stock |= extpoints.Delete
	}
	return []extpoints.EventHint{
		on(extpoints.NodeResource, extpoints.Add|extpoints.UpdateNodeLabel|extpoints.UpdateNodeAllocatable, nil),
		on(extpoints.DeviceClaimResource, extpoints.Add|extpoints.Update|extpoints.Delete, p.afterClaimChange),
		on(extpoints.TargetWorkload, extpoints.UpdateWorkloadDeviceClaims, p.afterClaimsMade),
		on(extpoints.DeviceClassResource, stock, nil),
		on(extpoints.DeviceSliceResource, stock, nil),
		// In the reference a change of a rule is reported as one of the slices.
	}, nil
}

var errNoClaim = errors.New("a change of a device claim without the claim")

// afterClaimChange says Queue where a claim gives its devices back, and where
// one of the workload's own comes or changes. (isSchedulableAfterClaimChange; what
// a claim asks for cannot change there, nor its deletion be called off.)
func (p *DynamicResources) afterClaimChange(w *model.Workload, c *extpoints.Change) (extpoints.Hint, error) {
	before, after := extpoints.ObjectsOf[*model.DeviceClaim](c)
	if after == nil {
		if before == nil {
			return extpoints.HintQueue, errNoClaim
		}
		return helper.QueueIf(before.Allocation != nil)
	}
	own, err := claimsOf(p.handle.View().Devices(), w)
	if err != nil {
		return extpoints.HintSkip, nil // it cannot be scheduled yet
	}
	if before != nil && before.Allocation != nil && after.Allocation == nil {
		return extpoints.HintQueue, nil
	}
	uses := slices.ContainsFunc(own, func(o claim) bool { return o.ID == after.ID && o.UID == after.UID })
	return helper.QueueIf(uses && (before == nil || !sameStatus(before, after) || before.Deleting || !sameWishes(before, after)))
}

// afterClaimsMade says Queue where all claims of the workload are there now.
// (isSchedulableAfterTargetPodUpdate.)
func (p *DynamicResources) afterClaimsMade(_ *model.Workload, c *extpoints.Change) (extpoints.Hint, error) {
	_, after, err := helper.UpdatedWorkload(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	_, err = claimsOf(p.handle.View().Devices(), after.Workload)
	return helper.QueueIf(err == nil)
}
