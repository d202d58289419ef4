package peaks_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/peaks"
)

// Both nodes are as busy. The workload goes to the one whose power it adds less to.
func Example() {
	profile := plugins.DefaultProfile()
	extpoints.Use(&profile, peaks.New, peaks.Args{Models: map[string]peaks.PowerModel{
		"old": {K1: 200, K2: 0.02},
		"new": {K1: 100, K2: 0.01},
	}}, extpoints.Weight(10))
	eng, err := engine.New(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: inproc.New(inproc.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Now()
	measured := func(node string) engine.Change {
		return engine.PutObject(&model.NodeLoad{Node: node, At: now, Resources: []model.ResourceLoad{{Name: model.CPU, Average: 30}}})
	}
	room := model.Resources{CPU: model.Cores(10)}
	err = eng.Apply(
		engine.PutNode(&model.Node{Name: "old", MaxWorkloads: 10, Allocatable: room}), measured("old"),
		engine.PutNode(&model.Node{Name: "new", MaxWorkloads: 10, Allocatable: room}), measured("new"),
		engine.Submit(&model.Workload{ID: "w", Requests: model.Resources{CPU: model.Cores(1)}}),
	)
	plan, failed := eng.Branch().Schedule(now, "w")
	fmt.Println(plan.Binding.Node, err, failed)
	// Output:
	// new <nil> <nil>
}
