package devices

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister names what can make a rejected workload feasible: devices
// that are given back, nodes that come or get other devices, and other requests.
func (*Devices) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete | extpoints.Update},
			Hint:  hintReleased,
		},
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.Update},
			Hint:  hintRequests,
		},
		{
			Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.UpdateNodeDevices},
			Hint:  hintNode,
		},
	}, nil
}

// hintReleased queues where a workload that is gone, or holds other devices
// than before, held or claimed devices of a class that w wants. The model does
// not matter: the device may serve a claim that stands in w's way.
func hintReleased(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	old, err := helper.DeletedWorkload(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	if c.NewWorkload != nil && slices.Equal(old.Shares, c.NewWorkload.Shares) &&
		sameRequests(old.Workload.Devices, c.NewWorkload.Workload.Devices) {
		return extpoints.HintSkip, nil
	}
	if len(old.Workload.Devices) == 0 && len(old.Shares) > 0 {
		return extpoints.HintQueue, nil // who knows of which class
	}
	d := demand{requests: w.Devices}
	if len(d.competitors(old.Workload.Devices)) > 0 {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// hintRequests queues where the workload itself asks for something else now.
func hintRequests(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after, err := helper.UpdatedWorkload(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	if sameRequests(before.Workload.Devices, after.Workload.Devices) {
		return extpoints.HintSkip, nil
	}
	return extpoints.HintQueue, nil
}

// hintNode queues where the new or changed node could serve w if it were empty.
func hintNode(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	_, node, err := helper.ChangedNode(c)
	if err != nil {
		return extpoints.HintQueue, err
	}
	d := demand{requests: w.Devices}
	if d.fitsEmpty(node) {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

func sameRequests(a, b []model.DeviceRequest) bool {
	return slices.EqualFunc(a, b, func(x, y model.DeviceRequest) bool { return compare(&x, &y) == 0 })
}
