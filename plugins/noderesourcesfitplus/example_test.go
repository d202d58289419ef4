package noderesourcesfitplus_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/noderesourcesfitplus"
)

// GPUs are packed and CPU is spread: a workload with a GPU goes to the node where others are used, one
// without to the node where the CPU is idle.
func Example() {
	const gpu = "example.com/gpu"
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, noderesourcesfitplus.New, noderesourcesfitplus.Args{Resources: []noderesourcesfitplus.Resource{
		{Name: gpu, Strategy: noderesourcesfitplus.MostAllocated, Weight: 5},
		{Name: model.CPU, Strategy: noderesourcesfitplus.LeastAllocated, Weight: 1},
	}}, extpoints.Weight(10))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	room := model.Resources{CPU: model.Cores(32)}.With(gpu, 8)
	one := model.Resources{CPU: model.Cores(4)}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1", Allocatable: room}), engine.PutNode(&model.Node{Name: "n2", Allocatable: room}),
		engine.Adopt(&model.Workload{ID: "runs", Requests: one.With(gpu, 2)}, model.Binding{Node: "n1"}),
		engine.Submit(&model.Workload{ID: "with", Requests: one.With(gpu, 1)}), engine.Submit(&model.Workload{ID: "without", Requests: one}),
	)
	for _, id := range []string{"with", "without"} {
		plan, failed := eng.Branch().Schedule(time.Now(), id)
		fmt.Println(id, plan.Binding.Node, err, failed)
	}
	// Output:
	// with n1 <nil> <nil>
	// without n2 <nil> <nil>
}
