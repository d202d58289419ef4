package extpoints

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/berth-project/berth/model"
)

// Devices is what a [ClusterView] knows of devices and of the claims to them: the
// objects as they were reported, with what has been decided since. It is shared
// and must not be changed. Conformance: extpointstest.TestView.
type Devices interface {
	// Claim returns the claim with the ID, nil where there is none.
	Claim(id string) *model.DeviceClaim
	// Class returns the device class with the name, nil where there is none.
	Class(name string) *model.DeviceClass
	// ClassFor returns the device class that stands for the scalar resource
	// because its Resource says so; nil where none does. See
	// [model.DeviceClass].Resource.
	ClassFor(resource string) *model.DeviceClass
	// Slices returns the device slices. As long as none of them and no taint
	// rule has changed it is the same pointer, also from one view to the next:
	// what is found out about the slices may be remembered under it.
	Slices() *DeviceSlices
	// Use returns what has been given away of the pool, nil for nothing. As
	// long as nothing of the pool is given away or given back it is the same
	// pointer, also from one view to the next.
	Use(pool model.PoolID) *PoolUse
}

// DeviceSlices are the device slices of a [ClusterView]. It is frozen.
type DeviceSlices struct {
	// List has the slices by ID, with the taints of the rules put on their
	// devices.
	List []*model.DeviceSlice
}

// PoolUse says what claims have been given of the devices of one pool. It is
// frozen; With and Without make others of it.
type PoolUse struct {
	// Devices has the devices of which something is given away, by name.
	Devices map[string]DeviceUse
	// given has what was given of each device, in no particular order: sums that have
	// reached the largest amount do not say what they are made of.
	given map[string][]*model.AllocatedDevice
}

// DeviceUse says what claims have been given of a device. What was given with
// admin access does not count.
type DeviceUse struct {
	// Whole counts how often it is given as a whole: once, if all is well.
	Whole int
	// Shares counts the parts that it is given in.
	Shares int
	// Consumed is what the shares take of its capacity together, by the capacity's name and in
	// its unit. Like sums of [model.Resources] it stops at the largest int64.
	Consumed map[string]int64
}

// Given lists what was given of the device, in no particular order. It is shared and must
// not be changed.
func (u *PoolUse) Given(device string) []*model.AllocatedDevice { return u.given[device] }

// With returns the use after the allocation was made, as far as it is about the
// pool. A nil use is that of a pool of which nothing is given away.
func (u *PoolUse) With(pool model.PoolID, a *model.Allocation) *PoolUse { return u.changed(pool, a, 1) }

// Without returns the use after the allocation, which is part of it, was taken
// back; nil where nothing is left.
func (u *PoolUse) Without(pool model.PoolID, a *model.Allocation) *PoolUse {
	return u.changed(pool, a, -1)
}

func (u *PoolUse) changed(pool model.PoolID, a *model.Allocation, by int) *PoolUse {
	devices, all := map[string]DeviceUse{}, map[string][]*model.AllocatedDevice{}
	if u != nil {
		devices, all = maps.Clone(u.Devices), maps.Clone(u.given)
	}
	for i := range a.Devices {
		given := &a.Devices[i]
		if given.AdminAccess || given.PoolID() != pool {
			continue
		}
		use, parts := devices[given.Device], all[given.Device]
		if by > 0 {
			parts = append(slices.Clip(parts), given)
		} else {
			parts = without(parts, given)
		}
		if given.Share == "" {
			use.Whole += by
		} else {
			use.Shares += by
			use.consume(given.Consumed, by, parts)
		}
		if use.Whole == 0 && use.Shares == 0 {
			delete(devices, given.Device)
			delete(all, given.Device)
		} else {
			devices[given.Device], all[given.Device] = use, parts
		}
	}
	if len(devices) == 0 {
		return nil
	}
	return &PoolUse{devices, all}
}

// without returns the list without the device: the very one, or else one that took the
// same.
func without(list []*model.AllocatedDevice, given *model.AllocatedDevice) []*model.AllocatedDevice {
	i := slices.Index(list, given)
	if i < 0 {
		i = slices.IndexFunc(list, func(o *model.AllocatedDevice) bool {
			return o.Share == given.Share && maps.Equal(o.Consumed, given.Consumed) && sameDrawn(o.Drawn, given.Drawn)
		})
	}
	if i < 0 {
		return list
	}
	return slices.Concat(list[:i], list[i+1:])
}

func sameDrawn(a, b *model.Drawn) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.EqualFunc(a.Counters, b.Counters, func(x, y model.CounterUse) bool {
		return x.Set == y.Set && maps.Equal(x.Counters, y.Counters)
	})
}

// consume adds the amounts to a copy of Consumed, or takes them off. Parts are those that
// there are then: a sum that has reached the largest amount is made anew of them.
func (u *DeviceUse) consume(amounts map[string]int64, by int, parts []*model.AllocatedDevice) {
	sum := make(map[string]int64, max(len(u.Consumed), len(amounts)))
	maps.Copy(sum, u.Consumed)
	for name, amount := range amounts {
		switch {
		case by > 0:
			sum[name] = addSaturated(sum[name], amount)
		case sum[name] < math.MaxInt64:
			sum[name] -= amount
		default:
			sum[name] = 0
			for _, p := range parts {
				sum[name] = addSaturated(sum[name], p.Consumed[name])
			}
		}
	}
	u.Consumed = sum
}

// addSaturated adds amounts, none below 0, up to the largest int64.
func addSaturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// DeviceReleaser is an [Orchestrator] that wants to be asked before a claim loses
// what it was given. That happens to claims that nobody has reserved: when it makes room
// for a workload, and when the workload is gone for which [DeviceBinder] was asked to
// write the claim, and the claim was not reported since. It also happens to the
// reservation of a group of which no member is on a node. For one that is not, it is
// true at once where the claim is in the way; what was written stays until it is
// reported.
type DeviceReleaser interface {
	Orchestrator
	// ReleaseDevices makes the claim what left says: without devices, or with
	// them but reserved for fewer; where left is nil it deletes the claim, which
	// then is one with ForResources. A claim that is so already, or has gone, is fine.
	// It must refuse if the claim has other devices than given here, or is reserved for
	// anybody who is not named here. It is called on goroutines of the engine's, several
	// at once, and may block until ctx ends. An error means that the claim is as it was;
	// the engine then waits for a report of it.
	ReleaseDevices(ctx context.Context, claim, left *model.DeviceClaim) error
}

// DeviceBinder is an [Orchestrator] that wants to know which devices claims are
// given before workloads are bound. For one that is not, what was decided is
// true at once.
type DeviceBinder interface {
	Orchestrator
	// BindDevices makes true what was decided about the device claims in
	// b.Decided: their Allocation and ReservedFor. A claim with ForResources
	// that is not there yet is to be made. It is called on binding goroutines
	// before Bind, several at once, and may block until ctx ends. It returns
	// when the claims are written and, of devices with binding conditions,
	// those are true; claims with such devices are in b.Decided also where
	// nothing about them is new. Where it can it keeps with the Allocation what was
	// Drawn, and says it again in reports: then that is known after a restart, too. An
	// error means that the workload cannot be bound as decided; it may be called again
	// for the same claims, and is for each attempt that needs them.
	//
	// From the call on the devices are given away, whatever becomes of the workload and
	// of the binding: until the claim is reported, ReleaseDevices has succeeded, or the
	// error is ErrNotWritten. With any other error some claims may be written and others
	// not, so the orchestrator has to look, and to report each of them. A report that
	// comes after the call has ended must not be older than what the call wrote; reports
	// that come during the call may be. As long as a workload has the claim, a report that
	// does not say so is taken for an older one. (kube-scheduler dynamicresources.go bindClaim,
	// AssumeClaimAfterAPICall, 1.37.1.)
	//
	// What is written and not needed is the orchestrator's to take back, and to report:
	// reservations of a workload that was not bound after all, or has ended. Devices stay
	// with a claim that is reserved for nobody: the next workload that uses the claim goes
	// by them, or has them taken back; see [DeviceReleaser].
	BindDevices(ctx context.Context, w *model.Workload, b model.Binding) error
}
