package devicepacking

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// packing prefers devices that are in use to free ones, and nodes that are in
// use to free ones:
//
//	all devices free                 max(33 - free, free)
//	u of those taken are free, u > 0 max(50 - u, 33)
//	all taken are in use             max(100 - (sum of their percent left)/10, 50)
//
// where those taken are the tightest ones.
type packing struct{ deterministic }

// Score is 0 for a workload without devices.
func (p *packing) Score(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	if p.total(w) == 0 {
		return extpoints.MinScore, nil
	}
	var devices, free int64
	for d := range node.Node.Devices {
		if node.Node.Devices[d].Class == p.class {
			devices++
			if node.DeviceFree[d] == model.WholeDevice {
				free++
			}
		}
	}
	if free == devices {
		return inRange(max(33-free, free)), nil
	}
	unused, left := p.taken(w, node)
	if unused > 0 {
		return max(50-unused, 33), nil
	}
	return max(100-left/10, 50), nil
}

// taken looks at the devices that the workload would get: how many of them are
// wholly free, and how many percent of them is left, in sum.
func (p *packing) taken(w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (unused, left int64) {
	var freeBuffer [stackDevices]int64
	var chosenBuffer [stackDevices]int
	free := append(freeBuffer[:0], node.DeviceFree...)
	for i := range w.Workload.Devices {
		r := &w.Workload.Devices[i]
		if r.Class != p.class {
			continue
		}
		chosen, _ := helper.TightestDevices(chosenBuffer[:0], node.Node.Devices, free, r)
		for _, d := range chosen {
			if free[d] == model.WholeDevice {
				unused++
			}
			left += free[d] * 100 / model.WholeDevice
			free[d] -= r.Share
		}
	}
	return unused, left
}
