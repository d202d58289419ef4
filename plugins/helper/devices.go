package helper

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// DeviceChooser decides which devices of its node a workload gets. A plugin
// that scores nodes by how well devices pack puts one under
// [DeviceChooserKey], so that the devices that were scored are the devices
// that are taken.
type DeviceChooser interface {
	// ChooseDevices returns as many devices, by index into node.Node.Devices,
	// as the request of the given index into w.Workload.Devices asks for; nil
	// means that the chooser has no wish and TightestDevices will do. free is
	// what is left of each device of the node in thousandths: DeviceFree less
	// what earlier requests of the same workload took. There are enough devices
	// that fit. The wish is granted unless it leaves too little for a later
	// request; devices that do not fit are an error.
	//
	// Called in Reserve, on the scheduling goroutine; must not change free, nor
	// keep it.
	ChooseDevices(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo, request int, free []int64) []int
}

// DeviceChooserKey is where the chooser of a cycle is. It must be set in
// PreFilter: PreScore does not run where only one node is feasible. At most one
// plugin of a profile should set it; the last one wins.
var DeviceChooserKey = extpoints.NewStateKey[DeviceChooser]("DeviceChooser")

// TightestDevices appends to dst the devices that a request gets where nobody
// wishes otherwise: of those that fit, the ones with the least left, and of
// equal ones those of the lowest index. For whole devices that is the wholly
// free ones of the lowest index. free is what is left of each device in
// thousandths. ok is false where too few devices fit; dst then has them all.
func TightestDevices(dst []int, devices []model.Device, free []int64, r *model.DeviceRequest) (chosen []int, ok bool) {
	last := -1 // what was chosen before, which all that is chosen now comes after
	for range r.Count {
		best := -1
		for d := range devices {
			if free[d] < r.Share || best >= 0 && free[d] >= free[best] {
				continue
			}
			after := last < 0 || free[d] > free[last] || free[d] == free[last] && d > last
			if after && r.Admits(&devices[d]) {
				best = d
			}
		}
		if best < 0 {
			return dst, false
		}
		dst, last = append(dst, best), best
	}
	return dst, true
}

// SignDevices is the key of the signature fragment of DevicesFragment.
const SignDevices = "Devices"

// DevicesFragment signs the workload's device requests, one by one in their
// order, which is the order of the devices in its binding.
func DevicesFragment(w *model.Workload) extpoints.SignFragment {
	var c Canon
	for i := range w.Devices {
		r := &w.Devices[i]
		c = c.Str(r.Class).Int(r.Count).Int(r.Share).Set(r.Models)
	}
	return extpoints.SignFragment{Key: SignDevices, Value: string(c)}
}
