package defaultpreemption_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/defaultpreemption"
)

// One candidate node is enough here. The branch reports the victim, and evicts
// nothing.
func Example() {
	profile := plugins.DefaultProfile()
	one := int32(1)
	extpoints.Use(&profile, defaultpreemption.New, defaultpreemption.Args{MinCandidateNodesAbsolute: &one}, extpoints.InPlaceOf(defaultpreemption.Name))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1", Allocatable: model.Resources{CPU: model.Cores(1)}}),
		engine.Adopt(&model.Workload{ID: "low", Requests: model.Resources{CPU: model.Cores(1)}}, model.Binding{Node: "n1"}),
		engine.Submit(&model.Workload{ID: "w", Priority: 10, Requests: model.Resources{CPU: model.Cores(1)}}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Nominated, plan.Evictions[0].ID, err, failed)
	// Output:
	// n1 low <nil> <nil>
}
