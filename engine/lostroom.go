package engine

import (
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// A workload that is nominated to a node waits for others to leave it, and displaces nobody
// elsewhere meanwhile. So it must be tried again when the node may not be worth waiting for any
// more: otherwise only a departure there would wake it, which need not come.

// lostRoomOn lets those look again who are nominated to a node that has gone or that is not
// what it was.
func (f facts) lostRoomOn(now time.Time, node *store.Change) {
	before, after := node.OldNode, node.NewNode
	if before == nil || after != nil && before.Seq == after.Seq && servesAsBefore(before.Node, after.Node) {
		return
	}
	for _, holder := range f.rec.View.Nominated(before.Node.Name) {
		f.lostRoom(now, holder)
	}
}

// servesAsBefore reports whether nothing that matters to scheduling has changed of a node.
func servesAsBefore(before, after *model.Node) bool {
	return before.Unschedulable == after.Unschedulable && len(extpoints.EventsForNodeUpdate(before, after)) == 0
}

// lostRoomBy does so where an object has come, changed or gone that has a say in whether they fit there; nil: it
// was not there, or is not any more.
func (f facts) lostRoomBy(now time.Time, before, after model.Object) {
	if before == after {
		return
	}
	for _, holder := range f.rec.View.NominatedWhere(func(w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) bool {
		return hasSay(before, w.Workload, node.Node) || hasSay(after, w.Workload, node.Node)
	}) {
		f.lostRoom(now, holder)
	}
}

// hasSay reports whether it may depend on the object whether the workload fits on the node: a hold, or what there is
// of storage and devices. What is measured, such as load, and changes all the time, is not taken for that.
func hasSay(o model.Object, w *model.Workload, node *model.Node) bool {
	if h, is := o.(*model.Hold); is {
		return h.Covers(node)
	}
	return len(w.VolumeClaims) > 0 && storageHasSay(o, w, node) || usesDevices(w) && devicesHaveSay(o, w, node)
}

func storageHasSay(o model.Object, w *model.Workload, node *model.Node) bool {
	switch o := o.(type) {
	case *model.VolumeClaim:
		return slices.ContainsFunc(w.VolumeClaims, func(r model.VolumeClaimRef) bool { return r.ID == o.ID })
	case *model.Volume:
		return o.Nodes.Matches(node)
	case *model.StorageCapacity:
		return o.Nodes.Matches(node.Labels)
	case *model.NodeStorage:
		return o.Node == node.Name
	case *model.VolumeAttachment: // which counts against what there may be on the node
		return o.Node == node.Name
	case *model.StorageClass, *model.StorageDriver:
		return true
	}
	return false
}

// usesDevices reports whether the workload may need claims to devices: a class of devices may stand for any scalar resource.
func usesDevices(w *model.Workload) bool { return len(w.DeviceClaims)+len(w.Requests.Scalars) > 0 }

func devicesHaveSay(o model.Object, w *model.Workload, node *model.Node) bool {
	switch o := o.(type) {
	case *model.DeviceClaim:
		mine := slices.ContainsFunc(w.DeviceClaims, func(r model.DeviceClaimRef) bool { return r.ID == o.ID })
		return mine || o.Allocation != nil && o.Allocation.Nodes.Matches(node)
	case *model.DeviceSlice:
		return o.Node == node.Name || o.AllNodes || o.PerDevice || o.Nodes != nil && o.Nodes.Matches(node)
	case *model.DeviceClass, *model.DeviceTaintRule:
		return true
	}
	return false
}

// lostRoomTo does so where another workload has come to the node, or asks for something else there, that need not leave
// them the room: one that is more important, or any where it is not the engine that has put it there.
func (f facts) lostRoomTo(now time.Time, before, after *store.Workload) {
	node := after.TakesRoomOn()
	came := node != before.TakesRoomOn()
	if node == "" || !came && !asksOtherwise(before, after) {
		return
	}
	for _, holder := range f.rec.View.Nominated(node) {
		w, is := holder.Workload, after.Info.Workload
		leaves := came && after.Phase == model.Assumed && (is.Priority <= w.Priority || f.queue.KeepsRoom(w, is))
		if w.ID != is.ID && !leaves {
			f.lostRoom(now, holder)
		}
	}
}

// lostRoomByItself does so where the workload has changed itself: it may ask for more than the room that is kept for it.
func (f facts) lostRoomByItself(now time.Time, before, after *store.Workload) {
	if after.NominatedTo() != "" && asksOtherwise(before, after) {
		f.lostRoom(now, after.Info)
	}
}

// asksOtherwise reports whether two versions of a workload differ in what they ask for.
func asksOtherwise(before, after *store.Workload) bool {
	was, is := before.Info.Workload, after.Info.Workload
	if was == is {
		return false
	}
	return !was.SameDemands(is) || extpoints.EventsForWorkloadUpdate(was, is, extpoints.TargetWorkload)[0].Action != extpoints.Update
}

// lostRoom lets a workload look again whose nomination has ended, or may be worth nothing any
// more, otherwise than by an attempt of its own. If evictions for it are under way it does so
// when they are over.
func (f facts) lostRoom(now time.Time, holder *extpoints.WorkloadInfo) {
	if f.cfg.Compat == extpoints.KubeScheduler137 {
		return
	}
	f.room.Changed(holder.ID)
	f.wake.LostRoom(now, holder)
}
