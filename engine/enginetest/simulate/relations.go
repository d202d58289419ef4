package simulate

import (
	"fmt"

	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/model"
)

// What workloads say of each other goes by the label app, and by the labels of
// nodes that are topologies.
var (
	simApps       = []string{"a", "b", "c"}
	simTopologies = []string{"zone", "zone", "kubernetes.io/hostname", "tier", model.ByNode, model.ByZone}
	simNamespaces = []string{"", "web"}
	simZones      = []string{"", "z1", "z2", "z3"}
)

// relate lets the workload be spread, drawn to others, or kept away from them.
func (s *sim) relate(w *model.Workload) {
	w.Labels["app"] = pickOf(s, simApps)
	if s.chance(15) {
		w.Spread = []model.SpreadConstraint{s.newSpread()}
	}
	if s.chance(10) {
		w.OwnerSelector = appSelector(w.Labels["app"])
	}
	if s.chance(8) {
		w.Affinity = s.newAffinity()
	}
	if s.chance(10) {
		w.AntiAffinity = s.newAffinity()
	}
	if s.chance(8) {
		w.Features = []string{pickOf(s, []string{"Swap", "Resize"})}
	}
	if s.chance(15) {
		w.Preemption = model.PreemptNever
	}
}

func appSelector(app string) *model.Selector {
	return model.SelectLabels(map[string]string{"app": app})
}

// newSelector selects workloads by app, sometimes all of them or none.
func (s *sim) newSelector() *model.Selector {
	switch {
	case s.chance(10):
		return &model.Selector{}
	case s.chance(5):
		return nil
	case s.chance(15):
		return &model.Selector{Requirements: []model.Requirement{{Key: "app", Operator: model.NotIn, Values: []string{pickOf(s, simApps)}}}}
	}
	return appSelector(pickOf(s, simApps))
}

func (s *sim) newSpread() model.SpreadConstraint {
	c := model.SpreadConstraint{
		TopologyKey: pickOf(s, simTopologies), MaxSkew: 1 + s.rng.Int32N(2), Mode: model.SpreadRequired, Selector: s.newSelector(),
		NodeAffinityPolicy: pickOf(s, []model.InclusionPolicy{"", model.Honor, model.Ignore}),
		NodeTaintsPolicy:   pickOf(s, []model.InclusionPolicy{"", model.Honor, model.Ignore}),
	}
	switch {
	case s.chance(30):
		c.Mode = model.SpreadPreferred
	case s.chance(30):
		c.MinDomains = 1 + s.rng.Int32N(3)
	}
	if s.chance(20) && c.Selector != nil {
		c.MatchLabelKeys = []string{"color"}
	}
	return c
}

func (s *sim) newAffinity() *model.WorkloadAffinity {
	if s.chance(40) {
		return &model.WorkloadAffinity{Preferred: []model.WeightedAffinityTerm{{Weight: 1 + s.rng.Int32N(100), AffinityTerm: s.newTerm()}}}
	}
	a := &model.WorkloadAffinity{}
	for range 1 + s.rng.IntN(2) {
		a.Required = append(a.Required, s.newTerm())
	}
	return a
}

func (s *sim) newTerm() model.AffinityTerm {
	t := model.AffinityTerm{Selector: s.newSelector(), TopologyKey: pickOf(s, simTopologies)}
	switch {
	case s.chance(20):
		t.Namespaces = []string{pickOf(s, simNamespaces[1:])}
	case s.chance(15):
		t.NamespaceSelector = &model.Selector{}
	case s.chance(15):
		t.NamespaceSelector = model.SelectLabels(map[string]string{"team": "x"})
	}
	return t
}

// newBudget makes a budget that protects the workloads of an app, or changes
// one that is there.
func (s *sim) newBudget() *model.Budget {
	b := &model.Budget{
		ID: fmt.Sprintf("b%d", s.rng.IntN(3)), Namespace: pickOf(s, simNamespaces), Allowed: s.rng.Int32N(3),
		Selector: appSelector(pickOf(s, simApps)),
	}
	if s.chance(20) {
		b.Displaced = []string{faults.WorkloadID(s.rng.IntN(s.made + 1))}
	}
	return b
}

// inZone is the term that selects the nodes of the zone.
func inZone(zone string) model.NodeTerm {
	return model.NodeTerm{Labels: []model.Requirement{{Key: "zone", Operator: model.In, Values: []string{zone}}}}
}
