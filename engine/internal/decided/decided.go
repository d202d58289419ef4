// Package decided says what decisions do to objects: a claim that is given a
// volume, a volume that is given to a claim, room that is taken for a volume, a claim that is given devices. What was
// decided holds from the decision on, before the orchestrator reports it.
package decided

import (
	"slices"

	"github.com/berth-project/berth/model"
)

// Can reports whether decisions change objects of the object's kind.
func Can(o model.Object) bool {
	switch o.(type) {
	case *model.VolumeClaim, *model.Volume, *model.StorageCapacity, *model.DeviceClaim:
		return true
	}
	return false
}

// Amend is for when the orchestrator reports the object again. Decided is the object
// as decisions have left it, workloads the IDs of the workloads that it was decided
// for. It returns the report with the parts of the decision that it does not contain
// yet; nil where it contains all of it, or contradicts it, and for a report about which
// nothing can be decided.
func Amend(report, decided model.Object, workloads []string) model.Object {
	switch o := report.(type) {
	case *model.VolumeClaim:
		return amendVolumeClaim(o, decided)
	case *model.Volume:
		return amendVolume(o, decided)
	case *model.StorageCapacity:
		return amendStorageCapacity(o, decided, workloads)
	case *model.DeviceClaim:
		return amendDeviceClaim(o, decided, workloads)
	}
	return nil
}

// amendVolumeClaim: the node that was selected holds until the claim has a volume or
// another node.
func amendVolumeClaim(c *model.VolumeClaim, decided model.Object) model.Object {
	d, ok := decided.(*model.VolumeClaim)
	if !ok || d.UID != c.UID || c.Volume != "" || c.SelectedNode != "" || c.Bound {
		return nil
	}
	amended := *c
	amended.SelectedNode, amended.Volume = d.SelectedNode, d.Volume
	return &amended
}

// amendStorageCapacity: the report has in it what volumes take that were asked for; those that
// were not go on counting.
func amendStorageCapacity(c *model.StorageCapacity, decided model.Object, workloads []string) model.Object {
	d, ok := decided.(*model.StorageCapacity)
	if !ok {
		return nil
	}
	amended := *c
	amended.Taken = slices.Clip(c.Taken)
	for _, taken := range d.Taken {
		if slices.Contains(workloads, taken.Workload) {
			amended.Taken = append(amended.Taken, taken)
		}
	}
	if len(amended.Taken) == len(c.Taken) {
		return nil
	}
	return &amended
}

// amendVolume: the claim that was decided on holds until the volume is reported to
// belong to one.
func amendVolume(v *model.Volume, decided model.Object) model.Object {
	d, ok := decided.(*model.Volume)
	if !ok || v.Claim != nil || d.Claim == nil {
		return nil
	}
	amended := *v
	amended.Claim = d.Claim
	return &amended
}

// amendDeviceClaim: what the claim was given holds until the report says that it has
// been given something, and those it was reserved for have it until the report names
// them. A claim that was decided on before it was made has no UID yet.
func amendDeviceClaim(c *model.DeviceClaim, decided model.Object, workloads []string) model.Object {
	d, ok := decided.(*model.DeviceClaim)
	toBeMade := ok && d.ForResources && d.UID == ""
	if !ok || d.UID != c.UID && !toBeMade {
		return nil
	}
	amended := *c
	if c.Allocation == nil {
		amended.Allocation = d.Allocation
	}
	for _, consumer := range d.ReservedFor {
		gone := consumer.Workload != "" && !slices.Contains(workloads, consumer.Workload)
		if !gone && !slices.Contains(amended.ReservedFor, consumer) {
			amended.ReservedFor = append(slices.Clip(amended.ReservedFor), consumer)
		}
	}
	if amended.Allocation == c.Allocation && len(amended.ReservedFor) == len(c.ReservedFor) {
		return nil
	}
	return &amended
}

// Written is for when the orchestrator may have made true what was decided for the
// workloads. It returns what is left when none of them has it by a decision any more: a
// claim to devices keeps these, and is reserved for none of them. What is reserved outside
// may end there with the attempt, so each attempt asks for its reservation again. A volume
// stays with its claim. Of room, what was asked for goes on being taken.
func Written(decided model.Object, workloads []string) model.Object {
	if room, ok := decided.(*model.StorageCapacity); ok {
		return without(room, func(t model.TakenRoom) bool { return t.Workload != "" })
	}
	c, ok := decided.(*model.DeviceClaim)
	if !ok {
		return decided
	}
	left := *c
	left.ReservedFor = slices.DeleteFunc(slices.Clone(c.ReservedFor), func(by model.Consumer) bool {
		return by.Workload != "" && slices.Contains(workloads, by.Workload)
	})
	return &left
}

// Asked is for when the orchestrator may have been asked for what was decided for the workload:
// room that is taken stays so then, whatever becomes of the workload.
func Asked(decided model.Object, workload string) model.Object {
	room, ok := decided.(*model.StorageCapacity)
	if !ok {
		return decided
	}
	asked := *room
	asked.Taken = slices.Clone(room.Taken)
	for i := range asked.Taken {
		if t := &asked.Taken[i]; t.Workload == workload {
			t.Workload = ""
		}
	}
	return &asked
}

// without returns the capacity with less room taken.
func without(c *model.StorageCapacity, free func(model.TakenRoom) bool) model.Object {
	left := *c
	left.Taken = slices.DeleteFunc(slices.Clone(c.Taken), free)
	return &left
}

// Release is for when one of the workloads that the object was decided for is gone,
// and others are not. It returns what is left: a claim to devices is no longer reserved
// for the workload, and room that was taken for it is free again; others that use a volume, or the
// claim to one, want the same.
func Release(decided model.Object, workload string) model.Object {
	if room, ok := decided.(*model.StorageCapacity); ok {
		return without(room, func(t model.TakenRoom) bool { return t.Workload == workload })
	}
	c, ok := decided.(*model.DeviceClaim)
	if !ok {
		return decided
	}
	left := *c
	left.ReservedFor = slices.DeleteFunc(slices.Clone(c.ReservedFor), func(by model.Consumer) bool { return by.Workload == workload })
	return &left
}
