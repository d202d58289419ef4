package noderesources_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/noderesources"
)

// A profile that packs: the node that is fuller afterwards scores more.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, noderesources.NewFit, noderesources.FitArgs{
		Strategy: noderesources.Strategy{Type: noderesources.MostAllocated},
	}, extpoints.InPlaceOf(noderesources.Name), extpoints.Weight(10))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "large", Allocatable: model.Resources{CPU: model.Cores(64), Memory: model.GiB(256)}}),
		engine.PutNode(&model.Node{Name: "small", Allocatable: model.Resources{CPU: model.Cores(4), Memory: model.GiB(16)}}),
		engine.Submit(&model.Workload{ID: "w", Requests: model.Resources{CPU: model.Cores(2), Memory: model.GiB(8)}}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// small <nil> <nil>
}
