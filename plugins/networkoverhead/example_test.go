package networkoverhead_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/networkoverhead"
)

// The shop talks to its database, which is in zone b; zone a is too far.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, networkoverhead.New, networkoverhead.Args{}, extpoints.Weight(10))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	of := func(component string) map[string]string {
		return map[string]string{"app": "shop", "component": component}
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "a1", Zone: "a"}), engine.PutNode(&model.Node{Name: "b1", Zone: "b"}), engine.PutNode(&model.Node{Name: "b2", Zone: "b", MaxWorkloads: 1}),
		engine.PutObject(&model.NetworkCosts{Name: "network", Levels: []model.CostLevel{{Key: model.ByZone, Costs: []model.NetworkCost{{From: "a", To: "b", Cost: 20}, {From: "b", To: "a", Cost: 20}}}}}),
		engine.PutObject(&model.AppGraph{ID: "shop", Components: []model.AppComponent{{Name: "db"}, {Name: "web", Needs: []model.AppNeed{{Component: "db", MaxCost: 10}}}}}),
		engine.Adopt(&model.Workload{ID: "db", Labels: of("db")}, model.Binding{Node: "b2"}),
		engine.Submit(&model.Workload{ID: "web", Labels: of("web")}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "web")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// b1 <nil> <nil>
}
