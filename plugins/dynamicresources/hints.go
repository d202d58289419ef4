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
// which nodes have themselves: kube-scheduler misses these
// (dynamicresources.go EventsToRegister, 1.37.1).
func (p *DynamicResources) EventsToRegister() ([]extpoints.EventHint, error) {
	stock := extpoints.Add | extpoints.Update
	if p.compat == extpoints.Improved {
		stock |= extpoints.Delete
	}
	return []extpoints.EventHint{
		helper.On(extpoints.NodeResource, extpoints.Add|extpoints.UpdateNodeLabel|extpoints.UpdateNodeAllocatable, nil),
		helper.On(model.DeviceClaimKind, extpoints.Add|extpoints.Update|extpoints.Delete, p.afterClaimChange),
		helper.On(extpoints.TargetWorkload, extpoints.UpdateWorkloadDeviceClaims, p.afterClaimsMade),
		helper.On(model.DeviceClassKind, stock, nil),
		helper.On(model.DeviceSliceKind, stock, nil),
		// In the reference a change of a rule is reported as one of the slices.
	}, nil
}

var errNoClaim = errors.New("a change of a device claim without the claim")

// afterClaimChange says Queue where a claim gives its devices back, and where
// one of the workload's own comes or changes. (isSchedulableAfterClaimChange; what
// a claim asks for cannot change there, nor its deletion be called off.)
func (p *DynamicResources) afterClaimChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := extpoints.ObjectsOf[*model.DeviceClaim](c)
	if after == nil {
		if before == nil {
			return extpoints.HintQueue, errNoClaim
		}
		return helper.QueueIf(before.Allocation != nil)
	}
	own, err := claimsOf(p.handle.View().Devices(), w)
	if err != nil {
		return extpoints.HintSkip, nil //nolint:nilerr // A claim is missing: it cannot be scheduled yet.
	}
	if before != nil && before.Allocation != nil && after.Allocation == nil {
		return extpoints.HintQueue, nil
	}
	uses := slices.ContainsFunc(own, func(o claim) bool { return o.ID == after.ID && o.UID == after.UID })
	return helper.QueueIf(uses && (before == nil || !sameStatus(before, after) || before.Deleting || !sameWishes(before, after)))
}

// afterClaimsMade says Queue where all claims of the workload are there now.
// (isSchedulableAfterTargetPodUpdate.)
func (p *DynamicResources) afterClaimsMade(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	_, after, err := helper.UpdatedWorkload(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	_, err = claimsOf(p.handle.View().Devices(), after.Workload)
	return helper.QueueIf(err == nil)
}
