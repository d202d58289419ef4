package holds

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(New),
		OneSided: map[string]string{"Filter": "there are no holds here; TestContractOfHolds"},
	})
}

// TestContractOfHolds is the contract among holds around the time of the cycle.
func TestContractOfHolds(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New), Random: randomSituation, Change: randomChange})
}

func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// randomHold is on some of the nodes n0 to n5, for some of the workloads with an app.
func randomHold(r *rand.Rand) *model.Hold {
	h := &model.Hold{Name: pick(r, "a", "b", "c"), Flex: r.IntN(2) == 0}
	if r.IntN(5) > 0 {
		h.From = extpointstest.Now.Add(time.Duration(r.IntN(7)-3) * time.Hour)
	}
	if r.IntN(5) > 0 {
		h.Until = h.From.Add(time.Duration(1+r.IntN(4)) * time.Hour)
	}
	if r.IntN(2) == 0 {
		h.NodeTerms = &model.NodeTerms{Terms: []model.NodeTerm{{Labels: []model.Requirement{{Key: "disk", Operator: pick(r, model.Exists, model.DoesNotExist)}}}}}
	}
	if h.NodeTerms == nil || r.IntN(2) == 0 {
		h.Nodes = []string{fmt.Sprintf("n%d", r.IntN(6)), fmt.Sprintf("n%d", r.IntN(6))}
	}
	if r.IntN(2) == 0 {
		h.Amounts = modeltest.RandomResources(r)
	}
	if r.IntN(3) > 0 {
		h.Users = model.SelectLabels(map[string]string{"app": pick(r, "web", "db")})
	}
	return h
}

func randomSituation(r *rand.Rand) *extpointstest.Situation {
	s := extpointstest.RandomSituation(r)
	s.Workload.Limit = time.Duration(r.IntN(5)) * time.Hour
	for range 2 {
		s.View.Put(randomHold(r))
	}
	return s
}

// randomChange changes a hold or, one time in three, something else.
func randomChange(r *rand.Rand, s *extpointstest.Situation) *extpointstest.Changed {
	if r.IntN(3) == 0 {
		return extpointstest.RandomChange(r, s)
	}
	view := *s.View
	view.Objects = slices.Clone(view.Objects)
	put := randomHold(r)
	var old *model.Hold
	for _, h := range view.Holds() {
		if h.Name == put.Name {
			old = h
		}
	}
	e := extpoints.Event{ClusterEvent: extpoints.ClusterEvent{Resource: model.HoldKind, Action: extpoints.Add}, NewObject: put}
	if old != nil {
		e.Action, e.OldObject = extpoints.Update, old
	}
	view.Put(put)
	if old != nil && r.IntN(2) == 0 {
		e.Action, e.NewObject = extpoints.Delete, nil
		view.Drop(model.HoldKind, put.Name)
	}
	return &extpointstest.Changed{
		What:    fmt.Sprintf("%s: %+v becomes %+v", e.ClusterEvent, old, e.NewObject),
		After:   &extpointstest.Situation{Workload: s.Workload, View: &view},
		Changes: []extpoints.Event{e},
	}
}
