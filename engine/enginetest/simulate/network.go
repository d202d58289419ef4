package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/model"
)

// Applications are named as the label app of workloads says. Regions are a label of nodes.
var (
	simComponents = []string{"web", "cart", "db"}
	simRegions    = []string{"r1", "r2"}
	simCosts      = []int64{0, 1, 5, 20, 100, 1_000_000}
)

const (
	componentLabel = "component"
	// missing is a component, and a place, that there is nowhere.
	missing = "missing"
)

// costsRef is that of what the network costs.
var costsRef = model.ObjectRef{Kind: model.NetworkCostsKind, ID: networkName}

func graphRef(app string) model.ObjectRef {
	return model.ObjectRef{Kind: model.AppGraphKind, ID: app}
}

// newNetwork makes the applications and the costs that there are at the beginning: most of them.
func (s *sim) newNetwork() {
	for _, app := range simApps {
		if s.chance(80) {
			s.world.facts.put(s.newGraph(app))
		}
	}
	if s.chance(70) {
		s.world.facts.put(s.newCosts())
	}
}

// newGraph makes an application. Its components talk to any, to themselves, in circles, and to one that is missing.
func (s *sim) newGraph(app string) *model.AppGraph {
	g := &model.AppGraph{ID: app, CreatedAt: simEpoch.Add(time.Duration(s.rng.IntN(300)) * time.Second)}
	for _, i := range s.rng.Perm(len(simComponents)) {
		if s.chance(10) {
			continue
		}
		c := model.AppComponent{Name: simComponents[i]}
		for _, other := range append(simComponents[:len(simComponents):len(simComponents)], missing) {
			if s.chance(60) {
				c.Needs = append(c.Needs, model.AppNeed{Component: other, MaxCost: pickOf(s, simCosts[:3])})
			}
		}
		g.Components = append(g.Components, c)
	}
	return g
}

// newCosts makes costs between places, not all of which there are. Some are not known, and some levels are
// missing, or not within the one before.
func (s *sim) newCosts() *model.NetworkCosts {
	costs := &model.NetworkCosts{Name: networkName}
	nodes := []string{faults.NodeName(0), faults.NodeName(1), faults.NodeName(2)}
	for _, l := range []struct {
		key    string
		places []string
		share  int
	}{{"region", simRegions, 60}, {model.ByZone, simZones, 80}, {model.ByNode, nodes, 30}} {
		if s.chance(l.share) {
			places := append(slices.Clone(l.places), missing)
			costs.Levels = append(costs.Levels, model.CostLevel{Key: l.key, Costs: s.costsBetween(places)})
		}
	}
	if s.chance(15) {
		slices.Reverse(costs.Levels)
	}
	return costs
}

func (s *sim) costsBetween(places []string) (list []model.NetworkCost) {
	for _, from := range places {
		for _, to := range places {
			if from != to && s.chance(85) {
				list = append(list, model.NetworkCost{From: from, To: to, Cost: pickOf(s, simCosts)})
			}
		}
	}
	return list
}

// talk makes most workloads some component of an application, mostly of the first one, and sometimes one that it does
// not have.
func (s *sim) talk(w *model.Workload) {
	if !s.networked || s.chance(15) {
		return
	}
	if s.chance(50) {
		w.Labels["app"] = simApps[0]
	}
	if w.Labels[componentLabel] = missing; s.chance(90) {
		w.Labels[componentLabel] = pickOf(s, simComponents)
	}
}

// inputNetwork has an application, or what the network costs, come, change or go. The engine is told at once, or
// late, in any order. What makes no sense must be refused.
func inputNetwork(s *sim) string {
	app := pickOf(s, simApps)
	switch n := s.rng.IntN(20); {
	case n < 7:
		g := s.newGraph(app)
		return fmt.Sprintf("application %+v%s", *g, s.change(g))
	case n < 14:
		costs := s.newCosts()
		return fmt.Sprintf("costs %+v%s", *costs, s.change(costs))
	case n < 16 && s.world.facts.now[graphRef(app)] != nil:
		return fmt.Sprintf("no application %s%s", app, s.remove(graphRef(app)))
	case n < 18 && s.world.facts.now[costsRef] != nil:
		return "no costs" + s.remove(costsRef)
	case n >= 18:
		return s.refuseNetwork()
	}
	return ""
}

// refuseNetwork tells the engine what makes no sense.
func (s *sim) refuseNetwork() string {
	costs := func(c model.NetworkCost) model.Object {
		return &model.NetworkCosts{Name: networkName, Levels: []model.CostLevel{{Key: model.ByZone, Costs: []model.NetworkCost{c}}}}
	}
	needs := func(list ...model.AppNeed) model.Object {
		return &model.AppGraph{ID: simApps[0], Components: []model.AppComponent{{Name: "web", Needs: list}}}
	}
	bad := pickOf(s, []model.Object{
		costs(model.NetworkCost{From: "z1", To: "z2", Cost: -1}), costs(model.NetworkCost{From: "z1", To: "z2", Cost: 1_000_001}),
		costs(model.NetworkCost{From: "z1", To: "z1"}), needs(model.AppNeed{Component: "db", MaxCost: -1}),
		needs(model.AppNeed{Component: "db"}, model.AppNeed{Component: "db"}), needs(model.AppNeed{}),
	})
	before := s.raw.View().Index()
	if err := s.raw.Apply(s.now, engine.PutObject(bad)); err == nil || s.raw.View().Index() != before {
		s.fail("%+v is not refused, or has changed something: %v", bad, err)
	}
	return fmt.Sprintf("nonsense: %+v", bad)
}
