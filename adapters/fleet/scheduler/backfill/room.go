package backfill

import (
	"cmp"
	"math"
	"slices"

	"github.com/berth-project/berth/model"
)

// Room is what is left of a node. It belongs to who made it.
type Room struct {
	node    *model.Node
	left    model.Resources
	tasks   int64   // how many more it may have
	devices []int64 // thousandths, by index
}

// NewRoom is all of a node.
func NewRoom(n *model.Node) Room {
	r := Room{
		node: n, left: n.Allocatable.Clone(), tasks: n.MaxWorkloads,
		devices: slices.Repeat([]int64{model.WholeDevice}, len(n.Devices)),
	}
	switch {
	case n.MaxWorkloads == model.Unlimited:
		r.tasks = math.MaxInt64 / 2 // so that it can be counted up and down
	case n.MaxWorkloads < 0:
		r.tasks = 0
	}
	return r
}

func (r *Room) clone() Room {
	c := *r
	c.left, c.devices = r.left.Clone(), slices.Clone(r.devices)
	return c
}

// Take takes what a task has.
func (r *Room) Take(requests *model.Resources, shares []model.DeviceShare) {
	r.left.Sub(requests)
	r.tasks--
	r.change(shares, -1)
}

func (r *Room) give(requests *model.Resources, shares []model.DeviceShare) {
	r.left.Add(requests)
	r.tasks++
	r.change(shares, +1)
}

func (r *Room) change(shares []model.DeviceShare, sign int64) {
	for _, s := range shares {
		if s.Device < len(r.devices) { // the node may have lost some
			r.devices[s.Device] += sign * s.Share
		}
	}
}

// TakeWorst takes what a task would get that starts now. Which devices those would be
// nobody knows: of those that are free by now, and as many as it asks for, it takes
// the ones that leave the least for the want.
func (r *Room) TakeWorst(now *Room, requests *model.Resources, device *model.DeviceRequest, want *Want) {
	r.left.Sub(requests)
	r.tasks--
	if device == nil {
		return
	}
	var order []int
	for i := range r.devices {
		if device.Admits(&r.node.Devices[i]) && now.devices[i] >= device.Share {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(r.loss(want, b, device.Share), r.loss(want, a, device.Share))
	})
	for _, i := range order[:min(device.Count, int64(len(order)))] {
		r.devices[i] -= device.Share
	}
}

// loss is how much less of a device would be of use to the want without the share.
func (r *Room) loss(want *Want, i int, share int64) int64 {
	if want.Device == nil || !want.Device.Admits(&r.node.Devices[i]) {
		return 0
	}
	return parts(want.Device, r.devices[i]) - parts(want.Device, r.devices[i]-share)
}

// Fits is how many tasks of the want there is room for, at most so many.
func (r *Room) Fits(want *Want, most int64) int64 {
	n := max(0, min(most, r.tasks))
	n = times(n, r.left.CPU, want.Requests.CPU)
	n = times(n, r.left.Memory, want.Requests.Memory)
	n = times(n, r.left.EphemeralStorage, want.Requests.EphemeralStorage)
	for _, s := range want.Requests.Scalars {
		n = times(n, r.left.Scalar(s.Name), s.Amount)
	}
	if want.Device != nil && n > 0 {
		n = min(n, r.devicesFit(want.Device))
	}
	return n
}

// times is how often the amount is left, at most n.
func times(n, left, amount int64) int64 {
	if amount <= 0 {
		return n
	}
	return max(0, min(n, left/amount))
}

// devicesFit is for how many tasks there are devices.
func (r *Room) devicesFit(d *model.DeviceRequest) int64 {
	var n int64
	for i := range r.devices {
		if d.Admits(&r.node.Devices[i]) {
			n += parts(d, r.devices[i])
		}
	}
	return n / max(1, d.Count)
}

// parts is how many shares of the request a device has left.
func parts(d *model.DeviceRequest, left int64) int64 { return max(0, left) / max(1, d.Share) }
