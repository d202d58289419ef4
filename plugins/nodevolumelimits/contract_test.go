package nodevolumelimits

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(New),
		OneSided: map[string]string{"Filter": "no workload has volumes here; TestContractOfVolumes"},
	})
}

// TestContractOfVolumes is the contract among nodes that are nearly full. No
// claim is somebody else's, which is an error and no rejection.
func TestContractOfVolumes(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New), Rounds: 600, Change: randomChange,
		Random: func(r *rand.Rand) *extpointstest.Situation {
			s := world{}.situation(r)
			for _, name := range []string{"d", "e"} {
				if r.IntN(4) == 0 {
					s.View.Put(&model.StorageDriver{Name: name, MustBeInstalled: true})
				}
			}
			return s
		},
	})
}

// randomChange changes an object that wakes workloads or, half the time,
// something else.
func randomChange(r *rand.Rand, s *extpointstest.Situation) *extpointstest.Changed {
	if r.IntN(2) == 0 {
		return shareVolumes(s, extpointstest.RandomChange(r, s))
	}
	view := *s.View
	view.Objects = slices.Clone(view.Objects)
	after := randomUpdate(r, s)
	kind, id := model.RefOf(after).Kind, model.RefOf(after).ID
	change, action := extpoints.Event{NewObject: after}, extpoints.Add
	for _, o := range view.Objects {
		if model.RefOf(o).Kind == kind && model.RefOf(o).ID == id {
			change.OldObject, action = o, extpoints.Update
		}
	}
	view.Put(after)
	if action == extpoints.Update && (kind == model.VolumeAttachmentKind || r.IntN(4) == 0 && kind != model.VolumeClaimKind) {
		change.NewObject, action = nil, extpoints.Delete
		view.Drop(kind, id)
	} else if kind == model.VolumeAttachmentKind {
		return nil
	}
	change.ClusterEvent = extpoints.ClusterEvent{Resource: kind, Action: action}
	return &extpointstest.Changed{
		What:    fmt.Sprintf("%s: %+v becomes %+v", change.ClusterEvent, change.OldObject, change.NewObject),
		After:   &extpointstest.Situation{Workload: s.Workload, View: &view},
		Changes: []extpoints.Event{change},
	}
}

// shareVolumes has a workload that comes use the volumes that are not made for the other one.
func shareVolumes(s *extpointstest.Situation, c *extpointstest.Changed) *extpointstest.Changed {
	if c == nil || len(c.Changes) != 1 || c.Changes[0].OldWorkload != nil || c.Changes[0].NewWorkload == nil {
		return c
	}
	w := c.Changes[0].NewWorkload.Workload
	w.Disks = s.Workload.Disks
	for _, ref := range s.Workload.VolumeClaims {
		if !ref.Generated {
			w.VolumeClaims = append(w.VolumeClaims, ref)
		}
	}
	return c
}

// randomUpdate is an object to be put in place of another. Of claims it is one
// that nobody else has.
func randomUpdate(r *rand.Rand, s *extpointstest.Situation) model.Object {
	switch r.IntN(4) {
	case 0:
		return randomNodeStorage(r, pick(r, s.View.NodeInfos...).Node.Name)
	case 1:
		return &model.StorageDriver{Name: pick(r, "d", "e"), MustBeInstalled: r.IntN(2) == 0}
	case 2:
		return &model.VolumeAttachment{ID: pick(r, names...)}
	}
	id := pick(r, names...)
	if s.View.Storage().Users(id) > 0 {
		id = "of-w"
	}
	return &model.VolumeClaim{ID: id, Class: pick(r, names...), Volume: pick(r, "", pick(r, names...)), Owner: "w"}
}
