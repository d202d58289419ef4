package volumezone

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// EventsToRegister asks for all that says where volumes and nodes are: classes
// that begin to wait for workloads, nodes that come or get other labels, claims
// and volumes that come or change.
//
// One thing the reference does not ask for, because it cannot happen there: a
// class that there was begins to wait. Here it wakes the workload too, unless the
// engine is told to keep to the reference ([extpoints.KubeScheduler137]).
func (p *VolumeZone) EventsToRegister() ([]extpoints.EventHint, error) {
	list := []extpoints.EventHint{
		helper.On(model.StorageClassKind, extpoints.Add, afterClassChange),
		helper.On(extpoints.NodeResource, extpoints.Add|extpoints.UpdateNodeLabel, nil),
		helper.On(model.VolumeClaimKind, extpoints.Add|extpoints.Update, afterClaimChange),
		helper.On(model.VolumeKind, extpoints.Add|extpoints.Update, afterVolumeChange),
	}
	if p.compat == extpoints.Improved {
		list = append(list, helper.On(model.StorageClassKind, extpoints.Update, afterClassChange))
	}
	return list, nil
}

// afterClassChange says Queue for a class that waits for workloads and did not
// before.
func afterClassChange(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := extpoints.ObjectsOf[*model.StorageClass](c)
	switch {
	case after == nil:
		return extpoints.HintQueue, helper.ErrNoObject
	case after.Binding != model.BindWhenConsumed, before != nil && before.Binding == after.Binding:
		return extpoints.HintSkip, nil
	}
	return extpoints.HintQueue, nil
}

// afterClaimChange says Queue for a claim of the workload.
func afterClaimChange(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	_, after := extpoints.ObjectsOf[*model.VolumeClaim](c)
	switch {
	case after == nil:
		return extpoints.HintQueue, helper.ErrNoObject
	case helper.UsesClaim(w, after.ID, false):
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// afterVolumeChange says Queue for a new volume, whosever it is, and for one
// that is somewhere else now.
func afterVolumeChange(_ *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	before, after := extpoints.ObjectsOf[*model.Volume](c)
	switch {
	case after == nil:
		return extpoints.HintQueue, helper.ErrNoObject
	case before != nil && sameTopologies(before, after):
		return extpoints.HintSkip, nil
	}
	return extpoints.HintQueue, nil
}

func sameTopologies(a, b *model.Volume) bool {
	return slices.EqualFunc(appendTopologies(nil, a), appendTopologies(nil, b), func(x, y topology) bool {
		return x.key == y.key && slices.Equal(x.values, y.values)
	})
}
