package topologyplacementgenerator_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/gangscheduling"
	"github.com/berth-project/berth/plugins/noderesources"
	"github.com/berth-project/berth/plugins/queuesort"
	"github.com/berth-project/berth/plugins/topologyplacementgenerator"
)

// The group must stay within one rack, and rack 1 has room for one member only.
func Example() {
	profile := extpoints.Profile{Name: "small"}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
	extpoints.Use(&profile, noderesources.NewFit, noderesources.FitArgs{})
	extpoints.Use(&profile, gangscheduling.New, extpoints.NoArgs{})
	extpoints.Use(&profile, topologyplacementgenerator.New, extpoints.NoArgs{})
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1", Labels: map[string]string{"rack": "1"}, Allocatable: model.Resources{CPU: model.Cores(1), Memory: model.GiB(1)}}),
		engine.PutNode(&model.Node{Name: "n2", Labels: map[string]string{"rack": "2"}, Allocatable: model.Resources{CPU: model.Cores(1), Memory: model.GiB(1)}}),
		engine.PutNode(&model.Node{Name: "n3", Labels: map[string]string{"rack": "2"}, Allocatable: model.Resources{CPU: model.Cores(1), Memory: model.GiB(1)}}),
		engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 2, TopologyKey: "rack"}),
		engine.Submit(&model.Workload{ID: "w1", Group: "g", Requests: model.Resources{CPU: model.Cores(1)}}),
		engine.Submit(&model.Workload{ID: "w2", Group: "g", Requests: model.Resources{CPU: model.Cores(1)}}),
	)
	plan, failed := eng.Branch().ScheduleGroup(time.Now(), "g")
	fmt.Println(plan.Members[0].Binding.Node, plan.Members[1].Binding.Node, err, failed)
	// Output:
	// n2 n3 <nil> <nil>
}
