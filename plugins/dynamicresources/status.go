package dynamicresources

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins/helper"
)

// rejection makes a status of this plugin. Displacing others does not help:
// that gives no devices back, until claims are.
func rejection(reason string) *extpoints.Status {
	return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, reason)
}

var (
	skip = extpoints.NewStatus(extpoints.Skip)
	// Devices of claims may be anywhere, so two workloads with claims that look
	// alike need not go to the same nodes.
	claimsUnsignable    = extpoints.NewStatus(extpoints.Unschedulable, "workloads with device claims are not signable")
	resourcesUnsignable = extpoints.NewStatus(extpoints.Unschedulable, helper.DeviceResourcesUnsignable)
)
