package lowriskovercommitment_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/lowriskovercommitment"
)

// What runs on the first node may use all of it, and does use more than it requests. The
// other node has promised no more than it has.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, lowriskovercommitment.New, lowriskovercommitment.Args{}, extpoints.Weight(10))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Now()
	measured := func(node string, percent float64) engine.Change {
		return engine.PutObject(&model.NodeLoad{Node: node, At: now, Resources: []model.ResourceLoad{{Name: model.CPU, Average: percent, StdDev: 5}}})
	}
	room, four := model.Resources{CPU: model.Cores(10)}, model.Resources{CPU: model.Cores(4)}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "overcommitted", MaxWorkloads: 10, Allocatable: room}), measured("overcommitted", 60),
		engine.PutNode(&model.Node{Name: "safe", MaxWorkloads: 10, Allocatable: room}), measured("safe", 30),
		engine.Adopt(&model.Workload{ID: "burst", Requests: four, UsageLimits: room}, model.Binding{Node: "overcommitted"}),
		engine.Adopt(&model.Workload{ID: "steady", Requests: four, UsageLimits: four}, model.Binding{Node: "safe"}),
		engine.Submit(&model.Workload{ID: "w", Requests: model.Resources{CPU: model.Cores(1)}}),
	)
	plan, failed := eng.Branch().Schedule(now, "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// safe <nil> <nil>
}
