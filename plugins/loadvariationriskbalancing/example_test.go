package loadvariationriskbalancing_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/loadvariationriskbalancing"
)

// Both nodes are as busy on an average. The one whose load varies less takes the workload.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, loadvariationriskbalancing.New, loadvariationriskbalancing.Args{}, extpoints.Weight(10))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Now()
	measured := func(node string, deviation float64) engine.Change {
		return engine.PutObject(&model.NodeLoad{Node: node, At: now, Resources: []model.ResourceLoad{{Name: model.CPU, Average: 40, StdDev: deviation}}})
	}
	room := model.Resources{CPU: model.Cores(10)}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "varying", MaxWorkloads: 10, Allocatable: room}), measured("varying", 30),
		engine.PutNode(&model.Node{Name: "steady", MaxWorkloads: 10, Allocatable: room}), measured("steady", 3),
		engine.Submit(&model.Workload{ID: "w", Requests: model.Resources{CPU: model.Cores(1)}}),
	)
	plan, failed := eng.Branch().Schedule(now, "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// steady <nil> <nil>
}
