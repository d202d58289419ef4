package model

import "math"

// WholeDevice is the capacity of one device, in thousandths.
const WholeDevice int64 = 1000

// Device is one accelerator (or other device) of a node. All devices can be
// shared: each has WholeDevice thousandths to give.
type Device struct {
	Class string // what it is, for example "gpu"
	Model string // which one, for example "V100M16"; may be empty
}

// DeviceRequest asks for Count devices of a class, all on one node, and of
// each of them the same share.
type DeviceRequest struct {
	Class string // of the devices, as in [Device].Class
	// Count is the number of devices; at least 1, and exactly 1 where Share is
	// less than a whole device.
	Count int64
	// Share is the part asked of each device in thousandths, 1 to WholeDevice.
	Share int64
	// Models, where not empty, are the models that will do.
	Models []string
}

// IsWhole reports whether the request is for whole devices.
func (r *DeviceRequest) IsWhole() bool { return r.Share == WholeDevice }

// Total is the sum over all devices of the request, in thousandths. Like sums
// of [Resources] it stops at the largest int64.
func (r *DeviceRequest) Total() int64 {
	if r.Share > 0 && r.Count > math.MaxInt64/r.Share {
		return math.MaxInt64
	}
	return r.Count * r.Share
}

// Admits reports whether a device of the class and model could serve the
// request.
func (r *DeviceRequest) Admits(d *Device) bool {
	if d.Class != r.Class {
		return false
	}
	if len(r.Models) == 0 {
		return true
	}
	for _, m := range r.Models {
		if m == d.Model {
			return true
		}
	}
	return false
}

// DeviceShare is a part of one device given to a workload.
type DeviceShare struct {
	Device int   // index into the node's Devices
	Share  int64 // thousandths
}
