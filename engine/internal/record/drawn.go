package record

import (
	"slices"

	"github.com/berth-project/berth/model"
)

// withDrawn returns the claim as it was reported, where it does not say what its devices have
// drawn on counters with that: what is known of the devices stays as it was, and of those
// that it has been given since it is what the slices say now. Slices change, so what they
// say is kept.
func (in *Intake) withDrawn(c *model.DeviceClaim) *model.DeviceClaim {
	if c.Allocation == nil || !slices.ContainsFunc(c.Allocation.Devices, lacksDrawn) {
		return c
	}
	known, _ := in.Object(model.RefOf(c)).Current().(*model.DeviceClaim)
	var devices []model.AllocatedDevice // a copy, once something is found out
	for i := range c.Allocation.Devices {
		d := &c.Allocation.Devices[i]
		if !lacksDrawn(*d) {
			continue
		}
		drawn, had := drawnBefore(known, d)
		if !had {
			drawn = in.drawn(d)
		}
		if drawn == nil {
			continue
		}
		if devices == nil {
			devices = slices.Clone(c.Allocation.Devices)
		}
		devices[i].Drawn = drawn
	}
	if devices == nil {
		return c
	}
	claim, allocation := *c, *c.Allocation
	allocation.Devices, claim.Allocation = devices, &allocation
	return &claim
}

func lacksDrawn(d model.AllocatedDevice) bool { return d.Drawn == nil && !d.AdminAccess }

// drawnBefore returns what the claim was known to have drawn with the device; had is false
// where it did not have it.
func drawnBefore(known *model.DeviceClaim, d *model.AllocatedDevice) (drawn *model.Drawn, had bool) {
	if known == nil || known.Allocation == nil {
		return nil, false
	}
	for i := range known.Allocation.Devices {
		if k := &known.Allocation.Devices[i]; k.DeviceID == d.DeviceID && k.Request == d.Request && k.Share == d.Share {
			return k.Drawn, true
		}
	}
	return nil, false
}

// drawn returns what the slices of the newest generation say that the device draws; nil
// where they do not, or where the pool has no counters.
func (in *Intake) drawn(d *model.AllocatedDevice) *model.Drawn {
	if in.published == nil {
		in.published = map[model.PoolID][]*model.DeviceSlice{}
		for row := range in.Objects(model.DeviceSliceKind) {
			s := row.Current().(*model.DeviceSlice)
			pool := model.PoolID{Driver: s.Driver, Pool: s.Pool}
			in.published[pool] = append(in.published[pool], s)
		}
	}
	var newest int64
	for _, s := range in.published[d.PoolID()] {
		newest = max(newest, s.Generation)
	}
	var found *model.SliceDevice
	counters := false
	for _, s := range in.published[d.PoolID()] {
		if s.Generation != newest {
			continue
		}
		counters = counters || len(s.Counters) > 0
		if i := slices.IndexFunc(s.Devices, func(o model.SliceDevice) bool { return o.Name == d.Device }); i >= 0 && found == nil {
			found = &s.Devices[i]
		}
	}
	if found == nil || !counters {
		return nil
	}
	return &model.Drawn{Counters: found.Consumes}
}
