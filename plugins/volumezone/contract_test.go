package volumezone

import (
	"fmt"
	"maps"
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

// TestContractOfVolumes is the contract among volumes that are somewhere.
func TestContractOfVolumes(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New), Random: randomSituation, Change: randomChange})
}

func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

var names = []string{"a", "b", "c"}

func randomLabels(r *rand.Rand) map[string]string {
	labels := map[string]string{}
	for _, key := range Labels {
		if r.IntN(4) == 0 {
			labels[key] = pick(r, "1", "2", "1__2", "__")
		}
	}
	return labels
}

func randomObject(r *rand.Rand) model.Object {
	name := pick(r, names...)
	switch r.IntN(3) {
	case 0:
		return &model.StorageClass{Name: name, Binding: pick(r, "", model.BindImmediate, model.BindWhenConsumed)}
	case 1:
		return &model.Volume{Name: name, Labels: randomLabels(r)}
	}
	return &model.VolumeClaim{ID: name, Class: pick(r, "", name), Volume: pick(r, "", name, name)}
}

func randomSituation(r *rand.Rand) *extpointstest.Situation {
	s := extpointstest.RandomSituation(r)
	for _, n := range s.View.NodeInfos {
		labels := maps.Clone(n.Node.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, randomLabels(r))
		n.Node.Labels = labels
	}
	for range 12 {
		s.View.Put(randomObject(r))
	}
	for _, i := range r.Perm(len(names))[:r.IntN(3)] {
		s.Workload.VolumeClaims = append(s.Workload.VolumeClaims, model.VolumeClaimRef{ID: names[i], Generated: r.IntN(4) == 0})
	}
	return s
}

// randomChange changes an object or, half the time, something else.
func randomChange(r *rand.Rand, s *extpointstest.Situation) *extpointstest.Changed {
	if r.IntN(2) == 0 {
		return relabel(r, s)
	}
	view := *s.View
	view.Objects = slices.Clone(view.Objects)
	after := randomObject(r)
	kind, action := model.RefOf(after).Kind, extpoints.Add
	change := extpoints.Event{NewObject: after}
	for _, o := range view.Objects {
		if model.RefOf(o).Kind == kind && model.RefOf(o).ID == model.RefOf(after).ID {
			change.OldObject, action = o, extpoints.Update
		}
	}
	change.ClusterEvent = extpoints.ClusterEvent{Resource: kind, Action: action}
	view.Put(after)
	return &extpointstest.Changed{
		What:    fmt.Sprintf("%s: %+v becomes %+v", change.ClusterEvent, change.OldObject, after),
		After:   &extpointstest.Situation{Workload: s.Workload, View: &view},
		Changes: []extpoints.Event{change},
	}
}

// relabel gives a node other labels.
func relabel(r *rand.Rand, s *extpointstest.Situation) *extpointstest.Changed {
	view := *s.View
	view.NodeInfos = slices.Clone(view.NodeInfos)
	i := r.IntN(len(view.NodeInfos))
	info := view.NodeInfos[i].Clone()
	old, node := info.Node, info.Node.Clone()
	node.Labels = randomLabels(r)
	info.SetNode(node)
	view.NodeInfos[i] = info
	return &extpointstest.Changed{
		What:    fmt.Sprintf("node %s becomes %v", node.Name, node.Labels),
		After:   &extpointstest.Situation{Workload: s.Workload, View: &view},
		Changes: extpointstest.NodeChanges(old, node),
	}
}
