package model

import (
	"maps"
	"slices"
)

// Alike is a [Workload.Data] that can say whether plugins see no difference between it and another, for
// example because the two differ in a number that only Bind looks at. It is called on the scheduling
// goroutine, with the Data of workloads that are otherwise the same.
type Alike interface {
	AlikeTo(other any) bool
}

// AlikeTo reports whether plugins see no difference between the workloads, so that what the one fits on the
// other does: they are the same but for ID and Name, and have no Data, or Data that say so as [Alike]. It does not look
// into claims to devices: workloads with any are not alike.
func (w *Workload) AlikeTo(o *Workload) bool {
	return w.SameDemands(o) && w.sameOrigin(o) && w.sameAmounts(o) && w.sameData(o) &&
		w.Preemption == o.Preemption && w.PreemptionToleration == o.PreemptionToleration && maps.Equal(w.Labels, o.Labels) &&
		slices.Equal(w.Tolerations, o.Tolerations) && slices.Equal(w.Features, o.Features) && slices.Equal(w.Gates, o.Gates) &&
		slices.Equal(w.Images, o.Images) && slices.Equal(w.Syscalls, o.Syscalls) && w.OwnerSelector.equal(o.OwnerSelector)
}

func (w *Workload) sameOrigin(o *Workload) bool {
	return w.Group == o.Group && w.Queue == o.Queue && w.Principal == o.Principal && w.CreatedAt.Equal(o.CreatedAt)
}

func (w *Workload) sameAmounts(o *Workload) bool {
	return w.QoS == o.QoS && w.Requests.equal(&o.Requests) && w.UsageLimits.equal(&o.UsageLimits) &&
		equalAmounts(w.Estimate, o.Estimate) && equalAmounts(w.FitLoad, o.FitLoad) &&
		slices.EqualFunc(w.Containers, o.Containers, func(a, b Container) bool {
			return a.Name == b.Name && a.Startup == b.Startup && a.Requests.equal(&b.Requests)
		}) &&
		slices.EqualFunc(w.Devices, o.Devices, func(a, b DeviceRequest) bool {
			return a.Class == b.Class && a.Count == b.Count && a.Share == b.Share && slices.Equal(a.Models, b.Models)
		}) &&
		len(w.DeviceClaims)+len(o.DeviceClaims) == 0
}

func (w *Workload) sameData(o *Workload) bool {
	if d, says := w.Data.(Alike); says {
		return d.AlikeTo(o.Data)
	}
	return w.Data == nil && o.Data == nil
}

func equalAmounts(a, b *Resources) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.equal(b)
}

func (r *Resources) equal(o *Resources) bool {
	return r.CPU == o.CPU && r.Memory == o.Memory && r.EphemeralStorage == o.EphemeralStorage && slices.Equal(r.Scalars, o.Scalars)
}
