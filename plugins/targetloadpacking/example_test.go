package targetloadpacking_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/targetloadpacking"
)

// The node that is busy, but not too busy, takes the workload; the idle one may stay idle.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, targetloadpacking.New, targetloadpacking.Args{Target: 60}, extpoints.Weight(10))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Now()
	measured := func(node string, percent float64) engine.Change {
		return engine.PutObject(&model.NodeLoad{Node: node, At: now, Resources: []model.ResourceLoad{{Name: model.CPU, Average: percent}}})
	}
	room := model.Resources{CPU: model.Cores(10)}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "idle", MaxWorkloads: 10, Allocatable: room}), measured("idle", 5),
		engine.PutNode(&model.Node{Name: "busy", MaxWorkloads: 10, Allocatable: room}), measured("busy", 40),
		engine.PutNode(&model.Node{Name: "hot", MaxWorkloads: 10, Allocatable: room}), measured("hot", 80),
		engine.Submit(&model.Workload{ID: "w", Requests: model.Resources{CPU: model.Cores(1)}}),
	)
	plan, failed := eng.Branch().Schedule(now, "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// busy <nil> <nil>
}
