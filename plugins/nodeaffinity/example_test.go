package nodeaffinity_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/nodeaffinity"
)

// The added affinity keeps all workloads of the profile off nodes without a fast
// disk.
func Example() {
	profile := plugins.DefaultProfile()
	fast := model.NodeTerm{Labels: []model.Requirement{{Key: "disk", Operator: model.In, Values: []string{"ssd"}}}}
	extpoints.Use(&profile, nodeaffinity.New, nodeaffinity.Args{
		AddedAffinity: &model.NodeAffinity{Required: &model.NodeTerms{Terms: []model.NodeTerm{fast}}},
	}, extpoints.InPlaceOf(nodeaffinity.Name))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "n1"}),
		engine.PutNode(&model.Node{Name: "n2", Labels: map[string]string{"disk": "ssd"}}),
		engine.Submit(&model.Workload{ID: "w"}),
	)
	plan, failed := eng.Branch().Schedule(time.Now(), "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// n2 <nil> <nil>
}
