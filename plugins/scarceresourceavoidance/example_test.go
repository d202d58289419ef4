package scarceresourceavoidance_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/scarceresourceavoidance"
)

// Both nodes have room, but one of them has GPUs that the workload does not need.
func Example() {
	const gpu = "example.com/gpu"
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, scarceresourceavoidance.New, scarceresourceavoidance.Args{Resources: []string{gpu}}, extpoints.Weight(10))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	room := model.Resources{CPU: model.Cores(32)}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "with", Allocatable: room.With(gpu, 8)}), engine.PutNode(&model.Node{Name: "without", Allocatable: room}),
		engine.Submit(&model.Workload{ID: "w", Requests: model.Resources{CPU: model.Cores(4)}}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// without <nil> <nil>
}
