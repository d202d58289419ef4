package noderesourcesallocatable_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/noderesourcesallocatable"
)

// A small workload goes to the small node, so that the large one stays free.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, noderesourcesallocatable.New, noderesourcesallocatable.Args{Mode: noderesourcesallocatable.Least}, extpoints.Weight(10))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "large", MaxWorkloads: 10, Allocatable: model.Resources{CPU: model.Cores(96), Memory: model.GiB(384)}}),
		engine.PutNode(&model.Node{Name: "small", MaxWorkloads: 10, Allocatable: model.Resources{CPU: model.Cores(8), Memory: model.GiB(32)}}),
		engine.Submit(&model.Workload{ID: "w", Requests: model.Resources{CPU: model.Cores(2)}}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// small <nil> <nil>
}
