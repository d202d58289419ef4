package volumerestrictions

import (
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

// TestContractOfVolumes is the contract among workloads that want what others
// have. No claim that only one may use has two users.
func TestContractOfVolumes(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New), Random: randomSituation, Change: randomChange, Rounds: 600})
}

func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

var names = []string{"a", "b", "c", "d"}

func randomDisk(r *rand.Rand) model.Disk {
	return model.Disk{Keys: []string{pick(r, names...), pick(r, names...)}, ReadOnly: r.IntN(2) == 0}
}

func randomSituation(r *rand.Rand) *extpointstest.Situation {
	s := extpointstest.RandomSituation(r)
	free := slices.Clone(names) // claims without a user
	for _, name := range names {
		if r.IntN(2) == 0 {
			s.View.Put(for1(name))
		} else {
			s.View.Put(forAny(name))
		}
	}
	for _, n := range s.View.NodeInfos {
		for _, w := range n.Workloads {
			w.VolumeClaims, w.Disks = nil, nil
			if r.IntN(3) == 0 && len(free) > 0 {
				w.VolumeClaims = []model.VolumeClaimRef{{ID: free[0]}}
				free = free[1:]
			}
			if r.IntN(2) == 0 {
				w.Disks = []model.Disk{randomDisk(r)}
			}
		}
	}
	s.Workload.VolumeClaims, s.Workload.Disks = nil, nil
	for _, i := range r.Perm(len(names))[:r.IntN(3)] {
		s.Workload.VolumeClaims = append(s.Workload.VolumeClaims, model.VolumeClaimRef{ID: names[i], Generated: r.IntN(5) == 0})
	}
	if r.IntN(2) == 0 {
		s.Workload.Disks = []model.Disk{randomDisk(r)}
	}
	if r.IntN(4) == 0 {
		s.View.Drop(model.VolumeClaimKind, pick(r, names...))
	}
	return s
}

// randomChange changes a claim or, half the time, something else.
func randomChange(r *rand.Rand, s *extpointstest.Situation) *extpointstest.Changed {
	if r.IntN(2) == 0 {
		return extpointstest.RandomChange(r, s)
	}
	view := *s.View
	view.Objects = slices.Clone(view.Objects)
	claim, action := pick(r, for1, forAny)(pick(r, names...)), extpoints.Add
	change := extpoints.Event{NewObject: claim}
	if before := view.Storage().Claim(claim.ID); before != nil {
		change.OldObject, action = before, extpoints.Update
	}
	change.ClusterEvent = extpoints.ClusterEvent{Resource: model.VolumeClaimKind, Action: action}
	view.Put(claim)
	return &extpointstest.Changed{
		What:    "a claim is put",
		After:   &extpointstest.Situation{Workload: s.Workload, View: &view},
		Changes: []extpoints.Event{change},
	}
}
